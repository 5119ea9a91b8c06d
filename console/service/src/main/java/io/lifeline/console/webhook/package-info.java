/** Webhooks: events and alerts that are sent to URLs, signed, with retries. */
package io.lifeline.console.webhook;
