package io.lifeline.jobs.archive.parquet;

import java.util.List;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBDataChunkWriter;

/** Rows in memory that DuckDB can read as a table. Does not change while it is read, by several threads at once. */
interface RowSource {

  /** A column as DuckDB sees it. */
  record VectorColumn(String name, DuckDBColumnType type) {}

  List<VectorColumn> columns();

  int rows();

  /** Writes {@code count} rows from {@code from} on into the beginning of the chunk. */
  void fill(DuckDBDataChunkWriter chunk, int from, int count);
}
