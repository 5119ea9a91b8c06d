/** Fills the index: with what the archive holds, and with what arrives at the broker. */
package io.lifeline.console.feed;
