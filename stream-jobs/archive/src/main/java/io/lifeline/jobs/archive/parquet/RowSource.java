package io.lifeline.jobs.archive.parquet;

import java.util.List;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBDataChunkWriter;

/** Rows in memory that DuckDB can read as a table. They do not change while several threads read them. */
interface RowSource {

  /** A column of the DuckDB table. */
  record VectorColumn(String name, DuckDBColumnType type) {}

  List<VectorColumn> columns();

  int rows();

  /** Writes {@code count} rows starting at row {@code from} to the beginning of the chunk. */
  void fill(DuckDBDataChunkWriter chunk, int from, int count);
}
