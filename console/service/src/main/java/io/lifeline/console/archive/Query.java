package io.lifeline.console.archive;

import io.lifeline.jobs.archive.ArchiveReader;
import java.math.BigInteger;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Runs a user's SQL, with bounded rows and bytes. */
public final class Query {
  private static final long MOST_EXACT = 1L << 53;
  /** Of the texts of values. */
  private static final long MOST_BYTES = 4 << 20;

  public record Column(String name, String type) {}

  /** @param truncated whether there are more rows, which may also be for their size */
  public record Result(List<Column> columns, List<List<Object>> rows, boolean truncated, long ms) {}

  private Query() {}

  /** @param mostRows how many rows are returned at most */
  public static Result run(ArchiveReader archive, String sql, int mostRows) throws SQLException {
    long started = System.nanoTime();
    try (PreparedStatement query = archive.prepare(sql)) {
      query.setFetchSize(1000);
      try (ResultSet rows = query.executeQuery()) {
        return read(rows, mostRows, started);
      }
    }
  }

  private static Result read(ResultSet rows, int mostRows, long started) throws SQLException {
    ResultSetMetaData meta = rows.getMetaData();
    List<Column> columns = new ArrayList<>();
    for (int i = 1; i <= meta.getColumnCount(); i++) {
      columns.add(new Column(meta.getColumnLabel(i), meta.getColumnTypeName(i).toLowerCase(Locale.ROOT)));
    }
    List<List<Object>> found = new ArrayList<>();
    boolean more = rows.next();
    long bytes = 0;
    while (more && found.size() < mostRows) {
      List<Object> row = new ArrayList<>();
      for (int i = 1; i <= columns.size(); i++) {
        Object value = value(rows, i, columns.get(i - 1));
        row.add(value);
        bytes += value instanceof String text ? 2L + text.length() : 8;
      }
      if (bytes > MOST_BYTES) {
        if (found.isEmpty()) {
          throw new SQLException("the first row has more than " + (MOST_BYTES >> 20) + " MiB: select a part of its"
              + " values, for example with substr");
        }
        break;
      }
      found.add(row);
      more = rows.next();
    }
    return new Result(columns, found, more, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started));
  }

  private static Object value(ResultSet rows, int index, Column column) throws SQLException {
    try {
      return plain(rows.getObject(index));
    } catch (RuntimeException e) { // the drivers lack some types
      throw new SQLException("the column " + column.name() + " has the type " + column.type() + ", which cannot be"
          + " shown: cast it to VARCHAR", e);
    }
  }

  /** Returns a value that JSON can express: numbers that a browser would round are texts. */
  static Object plain(Object value) {
    if (value == null || value instanceof Boolean || value instanceof String || value instanceof Integer
        || value instanceof Short || value instanceof Byte) {
      return value;
    }
    if (value instanceof Long number) {
      return Math.abs(number) <= MOST_EXACT ? number : number.toString();
    }
    if (value instanceof BigInteger number) {
      return number.bitLength() <= 53 ? number.longValue() : number.toString();
    }
    if (value instanceof Double || value instanceof Float) {
      double number = ((Number) value).doubleValue();
      return Double.isFinite(number) ? number : value.toString();
    }
    return value instanceof byte[] bytes ? HexFormat.of().formatHex(bytes) : value.toString();
  }
}
