/**
 * Reports on the programs in an archive: the table of stages, the bottleneck (defined in {@link
 * io.lifeline.jobs.archive.report.Bottleneck}), the picture of lifelines, and the event counts.
 */
package io.lifeline.jobs.archive.report;
