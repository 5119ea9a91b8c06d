package io.lifeline.ksql;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;

/** Parses ksqlDB's type notation, as far as functions use it, and converts it to Connect schemas as ksqlDB does. */
final class SqlTypes {

  private static final Pattern TOKEN = Pattern.compile("\\s*([A-Za-z_][A-Za-z0-9_]*|[<>,])");

  private final List<String> tokens = new ArrayList<>();
  private int next;

  private SqlTypes(String text) {
    Matcher matcher = TOKEN.matcher(text);
    int end = 0;
    while (matcher.lookingAt()) {
      tokens.add(matcher.group(1));
      end = matcher.end();
      matcher.region(end, text.length());
    }
    if (!text.substring(end).isBlank()) {
      throw new IllegalArgumentException("no type: " + text);
    }
  }

  static Schema parse(String text) {
    SqlTypes types = new SqlTypes(text);
    Schema schema = types.type();
    if (types.next != types.tokens.size()) {
      throw new IllegalArgumentException("something stands behind the type: " + text);
    }
    return schema;
  }

  private Schema type() {
    String name = tokens.get(next++).toUpperCase();
    switch (name) {
      case "BOOLEAN":
        return Schema.OPTIONAL_BOOLEAN_SCHEMA;
      case "INT", "INTEGER":
        return Schema.OPTIONAL_INT32_SCHEMA;
      case "BIGINT":
        return Schema.OPTIONAL_INT64_SCHEMA;
      case "DOUBLE":
        return Schema.OPTIONAL_FLOAT64_SCHEMA;
      case "VARCHAR", "STRING":
        return Schema.OPTIONAL_STRING_SCHEMA;
      case "BYTES":
        return Schema.OPTIONAL_BYTES_SCHEMA;
      case "ARRAY":
        expect("<");
        Schema element = type();
        expect(">");
        return SchemaBuilder.array(element).optional().build();
      case "MAP":
        expect("<");
        Schema key = type();
        expect(",");
        Schema value = type();
        expect(">");
        return SchemaBuilder.map(key, value).optional().build();
      case "STRUCT":
        return struct();
      default:
        throw new IllegalArgumentException("unknown type " + name);
    }
  }

  /** Parses a struct; unquoted names become upper case. */
  private Schema struct() {
    SchemaBuilder struct = SchemaBuilder.struct().optional();
    expect("<");
    do {
      String field = tokens.get(next++).toUpperCase();
      struct.field(field, type());
    } while (tokens.get(next++).equals(","));
    if (!tokens.get(next - 1).equals(">")) {
      throw new IllegalArgumentException("a STRUCT does not end");
    }
    return struct.build();
  }

  private void expect(String token) {
    if (!tokens.get(next++).equals(token)) {
      throw new IllegalArgumentException("no " + token + " where one belongs");
    }
  }
}
