package io.lifeline.jobs.archive.parquet;

import io.lifeline.codec.FieldType;
import io.lifeline.jobs.archive.ColumnNames;
import io.lifeline.jobs.archive.TypeEntry;
import io.lifeline.jobs.core.JsonWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBDataChunkWriter;
import org.duckdb.DuckDBWritableVector;

/**
 * The rows of several rare types as one table. Each field is stored twice: typed, in {@link Slots}, for the view of its
 * type, and in a JSON column of all fields, so that the view over all types reads each shared file only once.
 */
final class RareRows implements RowSource {
  private static final List<VectorColumn> TYPE_COLUMNS =
      List.of(text("type"), text("name"), text("level"), text("id"), text("fields"));

  private static final class Part {
    final TypeRows rows;
    final int start;
    final TypeEntry type;
    final List<String> names;
    final Map<String, Column> bySlot = new HashMap<>();

    Part(TypeRows rows, int start) {
      this.rows = rows;
      this.start = start;
      this.type = TypeEntry.of(rows.type());
      this.names = ColumnNames.of(type);
    }
  }

  private final List<Part> parts = new ArrayList<>();
  private final List<VectorColumn> columns = new ArrayList<>(TypeRows.eventColumns());
  private final List<String> slots;
  private final int rows;

  RareRows(List<TypeRows> types) {
    Map<String, VectorColumn> slotColumns = new LinkedHashMap<>();
    int start = 0;
    for (TypeRows type : types) {
      Part part = new Part(type, start);
      List<FieldType> fields = part.type.fieldTypes();
      List<String> slotNames = Slots.columns(fields);
      for (int i = 0; i < slotNames.size(); i++) {
        String slot = slotNames.get(i);
        part.bySlot.put(slot, type.field(i));
        slotColumns.putIfAbsent(slot, new VectorColumn(slot, Slots.Kind.of(fields.get(i)).vectorType));
      }
      parts.add(part);
      start += type.rows();
    }
    rows = start;
    slots = List.copyOf(slotColumns.keySet());
    columns.addAll(TYPE_COLUMNS);
    columns.addAll(slotColumns.values());
  }

  private static VectorColumn text(String name) {
    return new VectorColumn(name, DuckDBColumnType.VARCHAR);
  }

  @Override
  public List<VectorColumn> columns() {
    return columns;
  }

  /** Returns the names of the columns that hold fields. */
  List<String> slots() {
    return slots;
  }

  List<String> typeIds() {
    return parts.stream().map(part -> part.type.id()).toList();
  }

  @Override
  public int rows() {
    return rows;
  }

  @Override
  public void fill(DuckDBDataChunkWriter chunk, int from, int count) {
    for (Part part : parts) {
      int first = Math.max(from, part.start);
      int end = Math.min(from + count, part.start + part.rows.rows());
      if (first < end) {
        fill(chunk, first - from, part, first - part.start, end - first);
      }
    }
  }

  private void fill(DuckDBDataChunkWriter chunk, int at, Part part, int from, int count) {
    int column = part.rows.fillEvents(chunk, at, from, count);
    for (String constant : List.of(part.type.id(), part.type.name(), part.type.level())) {
      byte[][] values = new byte[count][];
      Arrays.fill(values, constant.getBytes(StandardCharsets.UTF_8));
      chunk.vector(column++).setStringUtf8Batch(at, values);
    }
    fillIds(chunk.vector(column++), at, part, from, count);
    fillJson(chunk.vector(column++), at, part, from, count);
    for (String slot : slots) {
      DuckDBWritableVector vector = chunk.vector(column++);
      Column field = part.bySlot.get(slot);
      if (field != null) {
        field.writeToSlot(vector, at, from, count);
      } else {
        fillNull(vector, at, count);
      }
    }
  }

  private static void fillIds(DuckDBWritableVector vector, int at, Part part, int from, int count) {
    int field = part.type.idField();
    if (field < 0) {
      fillNull(vector, at, count);
      return;
    }
    for (int i = 0; i < count; i++) {
      vector.setString(at + i, part.rows.field(field).text(from + i));
    }
  }

  private static void fillJson(DuckDBWritableVector vector, int at, Part part, int from, int count) {
    byte[][] values = new byte[count][];
    JsonWriter json = new JsonWriter();
    int fields = part.type.fields().size();
    for (int i = 0; i < count; i++) {
      json.reset().beginObject();
      for (int field = 0; field < fields; field++) {
        json.name(part.names.get(field));
        part.rows.field(field).writeJson(json, from + i);
      }
      for (int constant = 0; constant < part.type.constants().size(); constant++) {
        json.name(part.names.get(fields + constant));
        part.type.constants().get(constant).writeJson(json);
      }
      values[i] = json.endObject().toBytes();
    }
    vector.setStringUtf8Batch(at, values);
  }

  private static void fillNull(DuckDBWritableVector vector, int at, int count) {
    for (int i = 0; i < count; i++) {
      vector.setNull(at + i);
    }
  }
}
