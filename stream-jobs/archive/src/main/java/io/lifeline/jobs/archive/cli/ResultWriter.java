package io.lifeline.jobs.archive.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.jobs.archive.export.Csv;
import io.lifeline.jobs.core.Terminal;
import io.lifeline.jobs.core.TextTable;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.duckdb.DuckDBStruct;
import org.duckdb.JsonNode;

/** Prints a query's result. */
enum ResultWriter {
  /** Aligned columns for people, numbers to the right, and the number of rows. */
  TABLE {
    @Override
    void write(ResultSet rows, PrintWriter out) throws SQLException {
      ResultSetMetaData meta = rows.getMetaData();
      List<List<String>> table = new ArrayList<>();
      List<String> titles = new ArrayList<>();
      BitSet numeric = new BitSet();
      for (int i = 0; i < meta.getColumnCount(); i++) {
        titles.add(Terminal.printable(meta.getColumnLabel(i + 1)));
        numeric.set(i, NUMERIC.contains(typeName(meta, i + 1)));
      }
      table.add(titles);
      while (rows.next()) {
        List<String> row = new ArrayList<>();
        for (int i = 0; i < titles.size(); i++) {
          row.add(Terminal.printable(Objects.requireNonNullElse(rows.getString(i + 1), "NULL")));
        }
        table.add(row);
      }
      TextTable.printRuled(table, numeric::get, out);
      int count = table.size() - 1;
      out.println("(" + count + (count == 1 ? " row)" : " rows)"));
    }
  },

  /** One JSON object per line, in which lists are arrays, and structs and maps are objects. */
  JSON {
    @Override
    void write(ResultSet rows, PrintWriter out) throws SQLException {
      ResultSetMetaData meta = rows.getMetaData();
      List<String> names = uniqueNames(meta);
      try {
        while (rows.next()) {
          StringWriter line = new StringWriter();
          try (JsonGenerator json = MAPPER.createGenerator(line)) {
            json.writeStartObject();
            for (int i = 1; i <= names.size(); i++) {
              json.writeFieldName(names.get(i - 1));
              String type = typeName(meta, i);
              if (rows.getObject(i) != null && (type.equals("JSON") || type.equals("JSONB"))) {
                json.writeRawValue(rows.getString(i));
              } else {
                writeValue(json, rows.getObject(i), rows.getString(i));
              }
            }
            json.writeEndObject();
          }
          out.println(line);
        }
      } catch (IOException e) {
        throw new IllegalStateException("text always fits JSON", e);
      }
    }

    /** The second column {@code a} is called {@code a_1}, as two views that are joined may have columns of one name. */
    private List<String> uniqueNames(ResultSetMetaData meta) throws SQLException {
      Set<String> names = new LinkedHashSet<>();
      for (int i = 1; i <= meta.getColumnCount(); i++) {
        String name = meta.getColumnLabel(i);
        for (int n = 1; !names.add(name); n++) {
          name = meta.getColumnLabel(i) + "_" + n;
        }
      }
      return List.copyOf(names);
    }

    /** @param text of a value that has no form of its own in JSON */
    private void writeValue(JsonGenerator json, Object value, String text) throws SQLException, IOException {
      if (value == null) {
        json.writeNull();
      } else if (value instanceof Boolean bool) {
        json.writeBoolean(bool);
      } else if (value instanceof Double || value instanceof Float) {
        double number = ((Number) value).doubleValue();
        if (Double.isFinite(number)) {
          json.writeNumber(value.toString());
        } else {
          json.writeString(value.toString());
        }
      } else if (value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte
          || value instanceof BigInteger || value instanceof BigDecimal) {
        json.writeNumber(value.toString());
      } else if (value instanceof Array array) {
        writeValue(json, array.getArray(), text);
      } else if (value instanceof Object[] items) {
        json.writeStartArray();
        for (Object item : items) {
          writeValue(json, item, String.valueOf(item));
        }
        json.writeEndArray();
      } else if (value instanceof DuckDBStruct struct) {
        writeValue(json, struct.getMap(), text);
      } else if (value instanceof Map<?, ?> map) {
        json.writeStartObject();
        for (Map.Entry<?, ?> entry : map.entrySet()) {
          json.writeFieldName(String.valueOf(entry.getKey()));
          writeValue(json, entry.getValue(), String.valueOf(entry.getValue()));
        }
        json.writeEndObject();
      } else if (value instanceof JsonNode) {
        json.writeRawValue(value.toString());
      } else {
        json.writeString(text);
      }
    }
  },

  /** CSV quoted as in RFC 4180, but with plain line feeds; with a header line; nulls are empty, empty texts are "". */
  CSV {
    @Override
    void write(ResultSet rows, PrintWriter out) throws SQLException {
      ResultSetMetaData meta = rows.getMetaData();
      List<String> fields = new ArrayList<>();
      for (int i = 1; i <= meta.getColumnCount(); i++) {
        fields.add(Csv.quoted(meta.getColumnLabel(i)));
      }
      out.print(String.join(",", fields) + "\n");
      while (rows.next()) {
        fields.clear();
        for (int i = 1; i <= meta.getColumnCount(); i++) {
          String text = rows.getString(i);
          fields.add(text == null ? "" : Csv.quoted(text));
        }
        out.print(String.join(",", fields) + "\n");
      }
    }
  };

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final List<String> NUMERIC = List.of("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT",
      "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL",
      "INT2", "INT4", "INT8", "FLOAT4", "FLOAT8", "NUMERIC");

  abstract void write(ResultSet rows, PrintWriter out) throws SQLException;

  private static String typeName(ResultSetMetaData meta, int column) throws SQLException {
    String name = meta.getColumnTypeName(column).toUpperCase(Locale.ROOT);
    int parameters = name.indexOf('(');
    return parameters < 0 ? name : name.substring(0, parameters);
  }
}
