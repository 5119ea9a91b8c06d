package io.lifeline.jobs.archive.parquet;

import io.lifeline.codec.FieldType;
import io.lifeline.jobs.archive.Sql;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.duckdb.DuckDBColumnType;

/**
 * Assigns the fields of rare types to columns of the file that they share: the first integer of a type to column {@code
 * i0}, the second to {@code i1}, the first float to {@code d0}, and so on. The assignment depends only on the order of
 * the type's fields, so readers compute it as the writer did.
 */
public final class Slots {

  /** The kinds of columns in a shared file, with the letter that begins their names. */
  enum Kind {
    INTEGER("i", DuckDBColumnType.BIGINT),
    FLOATING("d", DuckDBColumnType.DOUBLE),
    TEXT("s", DuckDBColumnType.VARCHAR);

    final String letter;
    final DuckDBColumnType vectorType;

    Kind(String letter, DuckDBColumnType vectorType) {
      this.letter = letter;
      this.vectorType = vectorType;
    }

    static Kind of(FieldType type) {
      if (type.isVariable()) {
        return TEXT;
      }
      return type.isFloating() ? FLOATING : INTEGER;
    }
  }

  private Slots() {}

  /** Returns the name of each field's column, in the order of the fields. */
  public static List<String> columns(List<FieldType> fields) {
    Map<Kind, Integer> used = new EnumMap<>(Kind.class);
    List<String> names = new ArrayList<>();
    for (FieldType field : fields) {
      Kind kind = Kind.of(field);
      names.add(kind.letter + (used.merge(kind, 1, Integer::sum) - 1));
    }
    return names;
  }

  /**
   * Returns SQL for the field's value, from its column in a shared file. A condition on the value may be evaluated for
   * rows of other types, too, before the one that leaves these out: what is no such value there is NULL, not an error.
   */
  public static String value(FieldType type, String column) {
    return switch (type) {
      case U64 -> Sql.unsigned(column);
      case BOOL -> "(" + column + " <> 0)";
      case BYTES -> "TRY(unhex(" + column + "))";
      default -> "TRY_CAST(" + column + " AS " + Sql.type(type) + ")";
    };
  }
}
