/**
 * The archive: batches in, SQL rows out, each event exactly once.
 *
 * <p>{@link io.lifeline.jobs.archive.Archive} is the contract, {@link io.lifeline.jobs.archive.ArchiveWriter} the
 * interface for writing. {@code PartitionWriter} contains the logic common to all implementations; {@code parquet} and
 * {@code postgres} store the data.
 */
package io.lifeline.jobs.archive;
