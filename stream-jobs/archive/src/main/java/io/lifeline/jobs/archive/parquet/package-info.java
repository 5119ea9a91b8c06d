/**
 * The archive as a directory of Parquet files.
 *
 * <p>A {@code ParquetPartition} collects a {@code Roll} of columns, {@code RollFiles} hands them to DuckDB, and {@code
 * Publication} makes the files part of the archive by one {@link io.lifeline.jobs.archive.parquet.Manifest}. Whoever
 * reads goes by the manifests alone.
 */
package io.lifeline.jobs.archive.parquet;
