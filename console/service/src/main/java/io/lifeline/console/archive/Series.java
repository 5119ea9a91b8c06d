package io.lifeline.console.archive;

import io.lifeline.codec.FieldType;
import io.lifeline.console.index.Span;
import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.TimeSpan;
import io.lifeline.jobs.archive.TypeEntry;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** The values of numeric fields over time, for load lines: least, mean and greatest of each part of a span. */
public final class Series {
  private static final int MOST_NAMES = 10_000;
  private static final Set<FieldType> NUMBERS = EnumSet.of(FieldType.I32, FieldType.I64, FieldType.F32, FieldType.F64,
      FieldType.U32, FieldType.U64);

  public record Name(String type, String field, String unit) {}

  /**
   * @param t beginning of each part that has values, in nanoseconds since that of the span
   */
  public record Values(String base, long[] t, double[] min, double[] mean, double[] max, long[] count) {}

  private Series() {}

  /** Returns all numeric fields but those that name something. */
  public static List<Name> names(ArchiveReader archive) throws SQLException {
    List<Name> names = new ArrayList<>();
    for (String type : archive.eventTypes()) {
      for (TypeEntry.FieldEntry field : archive.fields(type)) {
        if (NUMBERS.contains(field.fieldType()) && !field.name().equals("id") && names.size() < MOST_NAMES) {
          names.add(new Name(type, field.name(), field.unit()));
        }
      }
    }
    return names;
  }

  /** Returns the values of a field that {@link ArchiveReader#has} knows. */
  public static Values of(ArchiveReader archive, String type, String field, Span span, int parts) throws SQLException {
    long width = Math.max(1, (span.to() - span.from()) / parts + 1);
    String time = archive.timeNs();
    String part = "CAST(floor((t - " + span.from() + ") / CAST(" + width + " AS DOUBLE PRECISION)) AS BIGINT)";
    String sql = "SELECT " + part + " AS p, min(v), avg(v), max(v), count(v) FROM (SELECT " + time + " AS t, "
        + archive.real(type, field) + " AS v FROM "
        + archive.eventsOf(type, new TimeSpan(span.from(), span.to())) + " AS within_span WHERE " + time + " BETWEEN "
        + span.from() + " AND " + span.to() + ") AS samples WHERE v IS NOT NULL GROUP BY p ORDER BY p";
    List<double[]> rows = new ArrayList<>();
    try (PreparedStatement query = archive.prepare(sql); ResultSet found = query.executeQuery()) {
      while (found.next()) {
        rows.add(new double[] {found.getLong(1), found.getDouble(2), found.getDouble(3), found.getDouble(4),
            found.getLong(5)});
      }
    }
    return new Values(Long.toString(span.from()), rows.stream().mapToLong(row -> (long) row[0] * width).toArray(),
        column(rows, 1), column(rows, 2), column(rows, 3), rows.stream().mapToLong(row -> (long) row[4]).toArray());
  }

  private static double[] column(List<double[]> rows, int column) {
    return rows.stream().mapToDouble(row -> row[column]).toArray();
  }
}
