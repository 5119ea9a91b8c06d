/**
 * What an archive tells about the programs in it: the table of stages, the bottleneck ({@link
 * io.lifeline.jobs.archive.report.Bottleneck} says what that is), the picture of lifelines, the books.
 */
package io.lifeline.jobs.archive.report;
