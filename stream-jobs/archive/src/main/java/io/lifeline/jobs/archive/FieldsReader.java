package io.lifeline.jobs.archive;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.lifeline.codec.FieldType;
import java.io.IOException;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Restores the values of a type's events from the column {@code fields} of the view {@code events}. */
public final class FieldsReader {
  private static final JsonFactory JSON = new JsonFactory();

  private final ArchivedType type;
  private final Map<String, Integer> memberByColumn = new HashMap<>();

  /** @param columns names of the members in the JSON: those of the fields, then those of the constants */
  public FieldsReader(TypeEntry entry, List<String> columns) {
    this.type = ArchivedType.of(entry);
    int fields = entry.fields().size();
    for (int i = 0; i < columns.size(); i++) {
      memberByColumn.put(columns.get(i), i < fields ? entry.constants().size() + i : i - fields);
    }
  }

  public ArchivedType type() {
    return type;
  }

  /** Returns the values of the type's members; null if the JSON has other members than these. */
  public Object[] read(String json) throws SQLException {
    Object[] values = new Object[type.members().size()];
    int found = 0;
    try (JsonParser parser = JSON.createParser(json)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        Integer member = memberByColumn.get(parser.currentName());
        if (member == null) {
          return null;
        }
        parser.nextToken();
        found++;
        values[member] = value(parser, type.members().get(member).type());
      }
    } catch (IOException | NumberFormatException e) {
      throw new SQLException("an event of the type " + type.name() + " has damaged fields: restore the archive from a"
          + " backup", e);
    }
    return found == memberByColumn.size() ? values : null;
  }

  private static Object value(JsonParser parser, FieldType type) throws IOException {
    if (parser.currentToken() == JsonToken.VALUE_NULL) {
      return null;
    }
    String text = parser.getText();
    return switch (type) {
      case STRING -> text;
      case BYTES -> text.startsWith("\\x") ? text.substring(2) : text; // PostgreSQL's bytea
      case BOOL -> parser.currentToken() == JsonToken.VALUE_TRUE;
      case F32 -> Float.valueOf(number(text));
      case F64 -> Double.valueOf(number(text));
      case U64 -> Long.parseUnsignedLong(text);
      default -> Long.valueOf(text);
    };
  }

  /** Returns what Java calls a number that JSON lacks. */
  private static String number(String text) {
    return switch (text) {
      case "nan" -> "NaN";
      case "inf" -> "Infinity";
      case "-inf" -> "-Infinity";
      default -> text;
    };
  }
}
