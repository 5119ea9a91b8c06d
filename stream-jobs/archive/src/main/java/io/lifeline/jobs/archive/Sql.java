package io.lifeline.jobs.archive;

import io.lifeline.codec.FieldType;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Collectors;

/** Builds SQL. Names and texts from batches are untrusted and must be quoted here before they enter a statement. */
public final class Sql {
  private Sql() {}

  /** Replaces NUL by U+FFFD: SQL names and literals, and PostgreSQL text, cannot contain NUL. */
  public static String clean(String text) {
    return text.indexOf(0) < 0 ? text : text.replace('\0', '\uFFFD');
  }

  /** Refuses SQL with a NUL: DuckDB would silently execute only what is before it. Null is no SQL. */
  public static void requireWhole(String sql) throws SQLException {
    if (sql != null && sql.indexOf(0) >= 0) {
      throw new SQLException("the query has a NUL at position " + (sql.indexOf(0) + 1) + ": remove it");
    }
  }

  /** Returns a quoted identifier that names exactly {@code name}, cleaned. */
  public static String identifier(String name) {
    return '"' + clean(name).replace("\"", "\"\"") + '"';
  }

  /** Returns a string literal of a text, cleaned. */
  public static String literal(String text) {
    return "'" + clean(text).replace("'", "''") + "'";
  }

  /** Returns a list of string literals. */
  public static String literals(List<String> texts) {
    return texts.stream().map(Sql::literal).collect(Collectors.joining(", ", "[", "]"));
  }

  /** Returns an expression that interprets a BIGINT's bits as an unsigned number. */
  public static String unsigned(String bigint) {
    return "(CASE WHEN " + bigint + " < 0 THEN " + bigint + "::HUGEINT + 18446744073709551616 ELSE " + bigint
        + " END)::UBIGINT";
  }

  /** Returns the SQL type of a field. */
  public static String type(FieldType type) {
    return switch (type) {
      case I32 -> "INTEGER";
      case I64 -> "BIGINT";
      case F32 -> "FLOAT";
      case F64 -> "DOUBLE";
      case STRING -> "VARCHAR";
      case U32 -> "UINTEGER";
      case U64 -> "UBIGINT";
      case BOOL -> "BOOLEAN";
      case BYTES -> "BLOB";
    };
  }
}
