/**
 * The events that the page shows, in memory: when, of which type, of which object, from which emitter. Any picture of
 * any part of them takes milliseconds. Their fields stay in the archive.
 *
 * <p>{@code TraceIndex} is the entry; {@code EventColumns} and {@code ObjectTable} hold the data, {@code BlockSummary}
 * is what is known of 1,024 consecutive events, and the other classes answer one question each.
 */
package io.lifeline.console.index;
