package io.lifeline.jobs.archive.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.jobs.archive.export.Csv;
import io.lifeline.jobs.core.Terminal;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Prints a query's result. */
enum ResultWriter {
  /** Aligned columns for people, numbers to the right, and the number of rows. */
  TABLE {
    @Override
    void write(ResultSet rows, PrintWriter out) throws SQLException {
      ResultSetMetaData meta = rows.getMetaData();
      List<String[]> table = new ArrayList<>();
      String[] titles = new String[meta.getColumnCount()];
      boolean[] numeric = new boolean[titles.length];
      for (int i = 0; i < titles.length; i++) {
        titles[i] = Terminal.printable(meta.getColumnLabel(i + 1));
        numeric[i] = NUMERIC.contains(typeName(meta, i + 1));
      }
      table.add(titles);
      while (rows.next()) {
        String[] row = new String[titles.length];
        for (int i = 0; i < row.length; i++) {
          row[i] = Terminal.printable(text(rows, i + 1, "NULL"));
        }
        table.add(row);
      }
      TextTable.print(table, numeric, out);
      int count = table.size() - 1;
      out.println("(" + count + (count == 1 ? " row)" : " rows)"));
    }
  },

  /** One JSON object per line. */
  JSON {
    @Override
    void write(ResultSet rows, PrintWriter out) throws SQLException {
      ResultSetMetaData meta = rows.getMetaData();
      try {
        while (rows.next()) {
          StringWriter line = new StringWriter();
          try (JsonGenerator json = MAPPER.createGenerator(line)) {
            json.writeStartObject();
            for (int i = 1; i <= meta.getColumnCount(); i++) {
              json.writeFieldName(meta.getColumnLabel(i));
              writeValue(json, rows, i, typeName(meta, i));
            }
            json.writeEndObject();
          }
          out.println(line);
        }
      } catch (IOException e) {
        throw new IllegalStateException("text always fits JSON", e);
      }
    }

    private void writeValue(JsonGenerator json, ResultSet rows, int column, String type)
        throws SQLException, IOException {
      Object value = rows.getObject(column);
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
      } else if (type.startsWith("JSON")) {
        json.writeRawValue(rows.getString(column));
      } else {
        json.writeString(text(rows, column, ""));
      }
    }
  },

  /** CSV quoted as in RFC 4180, but with plain line feeds; with a header line; nulls are empty. */
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
          fields.add(Csv.quoted(text(rows, i, "")));
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

  private static String text(ResultSet rows, int column, String whenNull) throws SQLException {
    String text = rows.getString(column);
    return text == null ? whenNull : text;
  }
}
