package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.FieldType;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.TypeEntry;

/** Maps fields and constants to types of PostgreSQL, which has no unsigned numbers. */
final class ColumnTypes {
  private ColumnTypes() {}

  static String of(FieldType type) {
    return switch (type) {
      case I32 -> "integer";
      case I64, U32 -> "bigint";
      case F32 -> "real";
      case F64 -> "double precision";
      case STRING -> "text";
      case U64 -> "numeric";
      case BOOL -> "boolean";
      case BYTES -> "bytea";
    };
  }

  /** Returns the constant's value as SQL. */
  static String literal(TypeEntry.ConstantEntry constant) {
    String text = constant.fieldType() == FieldType.BYTES ? "\\x" + constant.value() : constant.value();
    return Sql.literal(text) + "::" + of(constant.fieldType());
  }
}
