/**
 * The archive as a directory of Parquet files.
 *
 * <p>A {@code ParquetPartition} collects a {@code Roll} of columns, {@code RollFiles} passes them to DuckDB, and {@code
 * Publication} adds the files to the archive by one {@link io.lifeline.jobs.archive.parquet.Manifest}. Readers rely on
 * the manifests alone.
 */
package io.lifeline.jobs.archive.parquet;
