/**
 * The archive as a directory of Parquet files.
 *
 * <p>A {@code ParquetPartition} collects a {@code Roll} of columns, {@code RollFiles} passes them to DuckDB, and {@code
 * Publication} adds the files to the archive by one {@link io.lifeline.jobs.archive.parquet.Manifest}. Readers rely on
 * the manifests alone. In the background {@code Maintenance} lets a {@code Compactor} choose adjacent manifests by a
 * {@code Policy}, and a {@code Replacement} publish one in their place, with the files of its {@code FilePlan}.
 */
package io.lifeline.jobs.archive.parquet;
