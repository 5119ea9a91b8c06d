package io.lifeline.jobs.archive.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Rows for one statement, as an array per column: executing it once per row costs several times as much. */
final class RowArrays {
  /** Rows of one statement. The server holds the arrays in memory. */
  private static final int CHUNK = 10_000;

  private final String[] types;
  private final List<Object[]> rows = new ArrayList<>();

  /** @param types the columns' types, each one with arrays */
  RowArrays(String... types) {
    this.types = types;
  }

  /** Adds a row of one value per column: a String, or what the column's type is in JDBC; null is NULL. */
  void add(Object... row) {
    rows.add(row);
  }

  /** Returns a FROM item in SQL whose columns have these names, in the order in which the rows were added. */
  String source(String columns) {
    return Arrays.stream(types).map(type -> "?::" + type + "[]").collect(Collectors.joining(", ", "unnest(", ")"))
        + " AS r (" + columns + ")";
  }

  /** Executes the statement, which reads from {@link #source} and has no other parameters, for all rows. */
  void execute(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int from = 0; from < rows.size(); from += CHUNK) {
        List<Object[]> chunk = rows.subList(from, Math.min(from + CHUNK, rows.size()));
        for (int column = 0; column < types.length; column++) {
          int at = column;
          Object[] values = chunk.stream().map(row -> row[at]).toArray();
          statement.setArray(column + 1, connection.createArrayOf(types[column], values));
        }
        statement.executeUpdate();
      }
    }
  }
}
