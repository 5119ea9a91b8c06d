/**
 * The archive: batches in, Parquet files out, each event exactly once.
 *
 * <p>{@link io.lifeline.jobs.archive.ArchiveWriter} is the door for those who write. Behind it a {@code
 * PartitionWriter} collects a {@code Roll} of columns, {@code RollFiles} hands them to DuckDB, and {@code
 * Publication} makes the files part of the archive by one {@link io.lifeline.jobs.archive.Manifest}. Whoever reads
 * goes by the manifests alone.
 */
package io.lifeline.jobs.archive;
