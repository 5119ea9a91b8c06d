/**
 * The archive: batches in, rows for SQL out, each event exactly once.
 *
 * <p>{@link io.lifeline.jobs.archive.Archive} is the contract, {@link io.lifeline.jobs.archive.ArchiveWriter} the door
 * for those who write. {@code PartitionWriter} does what every implementation needs; {@code parquet} and {@code
 * postgres} store.
 */
package io.lifeline.jobs.archive;
