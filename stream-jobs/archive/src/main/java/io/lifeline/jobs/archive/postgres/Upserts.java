package io.lifeline.jobs.archive.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;

/**
 * Stores rows that replace those of the same key. A few rows are parameters of one statement, an array per column. Many
 * are copied into a temporary table, which the server reads several times as fast as arrays; from there, those that
 * exist are updated, since INSERT ... ON CONFLICT locks each row first, at a third of the cost of the update.
 */
final class Upserts {
  /** Rows from which on the temporary table is faster, although it takes more statements. */
  static final int MANY = 200;

  /** Limits of a statement with arrays, which the server holds in memory. */
  private static final int MAX_ROWS = 10_000;

  private static final long MAX_TEXT = 8 << 20;

  private final Connection connection;
  private final CopySegments pool = new CopySegments();
  private final boolean mayStage;

  /**
   * A table with a primary key.
   *
   * @param name the quoted name
   * @param staged name of the temporary table
   * @param columns the names, of which the first ones are the key
   * @param types their types: see {@link CopyBuffer#put}
   * @param keys number of columns in the key
   * @param isReplaced SQL that holds if the row {@code old} is replaced by the row {@code new}
   */
  record Table(String name, String staged, List<String> columns, List<String> types, int keys, String isReplaced) {
    /** @param definition names and types of the columns, separated by commas */
    static Table of(String name, String staged, String definition, int keys, String isReplaced) {
      List<String[]> columns = Arrays.stream(definition.split(", ")).map(column -> column.split(" ")).toList();
      return new Table(name, "pg_temp." + staged, columns.stream().map(column -> column[0]).toList(),
          columns.stream().map(column -> column[1]).toList(), keys, isReplaced);
    }

    /** Returns the columns' names, separated by commas. */
    String names() {
      return String.join(", ", columns);
    }

    private String condition(String row) {
      return isReplaced.replace("new.", row + ".");
    }

    private String assignments(String row) {
      return each(columns.subList(keys, columns.size()), ", ", column -> column + " = " + row + "." + column);
    }

    private String sameKey() {
      return each(columns.subList(0, keys), " AND ", column -> "old." + column + " = r." + column);
    }

    private static String each(List<String> columns, String separator, UnaryOperator<String> sql) {
      return columns.stream().map(sql).collect(Collectors.joining(separator));
    }

    private String insert(String from) {
      return "INSERT INTO " + name + " AS old (" + names() + ") SELECT " + names() + " FROM " + from
          + " ON CONFLICT (" + String.join(", ", columns.subList(0, keys)) + ") DO UPDATE SET "
          + assignments("excluded") + " WHERE " + condition("excluded");
    }

    private String insertArrays() {
      return insert("unnest(" + each(types, ", ", type -> "?::" + type + "[]") + ") AS r (" + names() + ")");
    }

    private String insertStaged() {
      return insert(staged + " r WHERE NOT EXISTS (SELECT FROM " + name + " old WHERE " + sameKey() + ")");
    }

    private String updateStaged() {
      return "UPDATE " + name + " AS old SET " + assignments("r") + " FROM " + staged + " r WHERE " + sameKey()
          + " AND " + condition("r");
    }
  }

  Upserts(Connection connection) throws SQLException {
    this.connection = connection;
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT has_database_privilege(current_database(), 'TEMPORARY')")) {
      row.next();
      this.mayStage = row.getBoolean(1);
    }
  }

  /**
   * Stores a row for each of the values, which must be in the order of their keys: two writers that update the same
   * rows then lock them in the same order, and cannot deadlock.
   */
  <T> void store(Table table, List<T> values, Function<T, Object[]> row) throws SQLException {
    if (mayStage && values.size() >= MANY) {
      storeStaged(table, values.stream().map(row), values.size());
    } else if (!values.isEmpty()) {
      storeArrays(table, values.stream().map(row).toList());
    }
  }

  /** Stores the rows of a subquery, in their order, which must be that of their keys. */
  void storeFrom(Table table, String subquery) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.executeUpdate(table.insert(subquery + " r"));
    }
  }

  /** Looks rows up one by one: a join of another kind would lock them in any order, and might read the whole table. */
  private void storeStaged(Table table, Stream<Object[]> rows, int count) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TEMPORARY TABLE IF NOT EXISTS " + table.staged() + " (LIKE " + table.name()
          + ") ON COMMIT DELETE ROWS; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off");
      copy(table, rows);
      if (statement.executeUpdate(table.updateStaged()) < count) {
        statement.executeUpdate(table.insertStaged());
      }
    }
  }

  private void copy(Table table, Stream<Object[]> rows) throws SQLException {
    CopyBuffer buffer = new CopyBuffer(table.columns().size(), pool);
    CopyIn copy = connection.unwrap(PGConnection.class).getCopyAPI()
        .copyIn("COPY " + table.staged() + " (" + table.names() + ") FROM STDIN (FORMAT binary)");
    try {
      for (Object[] row : (Iterable<Object[]>) rows::iterator) {
        buffer.row();
        for (int column = 0; column < row.length; column++) {
          buffer.put(table.types().get(column), row[column]);
        }
        buffer.sendFull(copy);
      }
      buffer.sendTo(copy);
      copy.endCopy();
    } finally {
      if (copy.isActive()) {
        copy.cancelCopy();
      }
      buffer.release();
    }
  }

  private void storeArrays(Table table, List<Object[]> rows) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(table.insertArrays())) {
      for (int from = 0, to; from < rows.size(); from = to) {
        to = endOfChunk(rows, from);
        List<Object[]> chunk = rows.subList(from, to);
        for (int column = 0; column < table.types().size(); column++) {
          int at = column;
          Object[] values = chunk.stream().map(row -> row[at]).toArray();
          statement.setArray(column + 1, connection.createArrayOf(table.types().get(column), values));
        }
        statement.executeUpdate();
      }
    }
  }

  private static int endOfChunk(List<Object[]> rows, int from) {
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
