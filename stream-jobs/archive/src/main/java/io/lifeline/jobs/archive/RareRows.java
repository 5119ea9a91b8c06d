package io.lifeline.jobs.archive;

import io.lifeline.codec.Field;
import io.lifeline.codec.FieldType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBDataChunkWriter;
import org.duckdb.DuckDBWritableVector;

/** The rows of several rare types as one table, their fields in {@link Slots}; what a type lacks is null. */
final class RareRows implements RowSource {
  private static final int TYPE_COLUMN = TypeRows.eventColumns().size();

  private record Part(TypeRows rows, int start, byte[] typeId, Map<String, Integer> fieldBySlot) {}

  private final List<Part> parts = new ArrayList<>();
  private final List<VectorColumn> columns = new ArrayList<>(TypeRows.eventColumns());
  private final List<VectorColumn> slots;
  private final int rows;

  RareRows(List<TypeRows> types) {
    Map<String, VectorColumn> slotColumns = new LinkedHashMap<>();
    int start = 0;
    for (TypeRows type : types) {
      List<FieldType> fields = type.type().fields().stream().map(Field::type).toList();
      List<String> names = Slots.columns(fields);
      Map<String, Integer> fieldBySlot = new LinkedHashMap<>();
      for (int i = 0; i < names.size(); i++) {
        fieldBySlot.put(names.get(i), i);
        DuckDBColumnType vectorType = Slots.Kind.of(fields.get(i)).vectorType;
        slotColumns.putIfAbsent(names.get(i), new VectorColumn(names.get(i), vectorType));
      }
      byte[] id = TypeEntry.id(type.type()).getBytes(StandardCharsets.US_ASCII);
      parts.add(new Part(type, start, id, fieldBySlot));
      start += type.rows();
    }
    rows = start;
    columns.add(new VectorColumn("type", DuckDBColumnType.VARCHAR));
    slots = List.copyOf(slotColumns.values());
    columns.addAll(slots);
  }

  @Override
  public List<VectorColumn> columns() {
    return columns;
  }

  /** The names of the columns that hold fields. */
  List<String> slotNames() {
    return slots.stream().map(VectorColumn::name).toList();
  }

  /** SQL for the thread. */
  String thread(String vector) {
    return Sql.unsigned(vector);
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
    part.rows.fillEvents(chunk, at, from, count);
    byte[][] ids = new byte[count][];
    Arrays.fill(ids, part.typeId);
    chunk.vector(TYPE_COLUMN).setStringUtf8Batch(at, ids);
    for (int slot = 0; slot < slots.size(); slot++) {
      DuckDBWritableVector vector = chunk.vector(TYPE_COLUMN + 1 + slot);
      Integer field = part.fieldBySlot.get(slots.get(slot).name());
      if (field != null) {
        part.rows.field(field).write(vector, at, from, count);
      } else {
        for (int i = 0; i < count; i++) {
          vector.setNull(at + i);
        }
      }
    }
  }
}
