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

/** Runs a user's SQL, with bounded rows. */
public final class Query {
  private static final long MOST_EXACT = 1L << 53;

  public record Column(String name, String type) {}

  /** @param truncated whether there are more rows */
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
    while (more && found.size() < mostRows) {
      List<Object> row = new ArrayList<>();
      for (int i = 1; i <= columns.size(); i++) {
        row.add(plain(rows.getObject(i)));
      }
      found.add(row);
      more = rows.next();
    }
    return new Result(columns, found, more, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started));
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
