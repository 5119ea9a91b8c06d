package io.lifeline.jobs.archive;

import io.lifeline.codec.FieldType;
import java.util.List;
import java.util.stream.Collectors;

/** Pieces of SQL. Names and texts from batches are hostile, so nothing enters a statement but through here. */
public final class Sql {
  private Sql() {}

  /** With U+FFFD for NUL: no name and no literal of SQL can hold it, and no text of PostgreSQL. */
  public static String clean(String text) {
    return text.indexOf(0) < 0 ? text : text.replace('\0', '\uFFFD');
  }

  /** A quoted identifier that names exactly {@code name}. */
  public static String identifier(String name) {
    return '"' + name.replace("\"", "\"\"") + '"';
  }

  /** A string literal. */
  public static String literal(String text) {
    return "'" + text.replace("'", "''") + "'";
  }

  /** A list of string literals. */
  public static String literals(List<String> texts) {
    return texts.stream().map(Sql::literal).collect(Collectors.joining(", ", "[", "]"));
  }

  /** The unsigned number that a BIGINT's bits mean. */
  public static String unsigned(String bigint) {
    return "(CASE WHEN " + bigint + " < 0 THEN " + bigint + "::HUGEINT + 18446744073709551616 ELSE " + bigint
        + " END)::UBIGINT";
  }

  /** The SQL type of a field. */
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
