/**
 * Writes events of an archive in the formats of other tools, in order of time and in bounded memory.
 *
 * <p>{@link io.lifeline.jobs.archive.export.EventFormat} is a format. {@code LineFormat} is the base of those with an
 * event per line, {@code Timeline} of those that show tracks over time; {@code OpenPairs} combines {@code X.start} and
 * {@code X.end} for all that need it.
 */
package io.lifeline.jobs.archive.export;
