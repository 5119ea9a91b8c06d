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
  /** Limits of one statement, since the server holds the arrays in memory. */
  private static final int MAX_ROWS = 10_000;

  private static final long MAX_TEXT = 8 << 20;

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
      for (int from = 0, to; from < rows.size(); from = to) {
        to = endOfChunk(from);
        List<Object[]> chunk = rows.subList(from, to);
        for (int column = 0; column < types.length; column++) {
          int at = column;
          Object[] values = chunk.stream().map(row -> row[at]).toArray();
          statement.setArray(column + 1, connection.createArrayOf(types[column], values));
        }
        statement.executeUpdate();
      }
    }
  }

  private int endOfChunk(int from) {
    long text = 0;
    int to = from;
    while (to < rows.size() && to - from < MAX_ROWS && text < MAX_TEXT) {
      for (Object value : rows.get(to++)) {
        text += value instanceof String string ? string.length() : 0;
      }
    }
    return to;
  }
}
