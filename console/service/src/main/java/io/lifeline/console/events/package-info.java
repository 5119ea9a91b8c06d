/**
 * Events as they arrive at the broker, for subscribers: the newest batches in one log, which each subscriber reads at
 * its own pace and filters for itself.
 */
package io.lifeline.console.events;
