package io.lifeline.jobs.core.filter;

import com.google.common.primitives.UnsignedLong;
import dev.cel.common.values.CelByteString;
import io.lifeline.codec.ColumnarBatch.Columns;
import io.lifeline.codec.Constant;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Utf8;
import io.lifeline.jobs.core.FieldNames;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * The names that a condition may use: those that every event has, and the fields and constants of its type. If the name
 * of a field or constant collides with a common name, it gets the suffix {@code _}, as in decoded events; the map
 * {@code fields} has all fields and constants under their own names.
 */
final class Variables {

  /** Name of the map of a type's own fields and constants. */
  static final String FIELDS = "fields";

  /** Names that every event has. */
  static final Set<String> COMMON =
      Set.of(
          "ts", "ts_ns", "type", "level", "host", "program", "pid", "thread", "incarnation", "route", "sequence",
          "event_index", FIELDS);

  private static final long NS_PER_S = 1_000_000_000;

  private final Map<String, Variable> byName = new HashMap<>();
  private final Map<String, Variable> own = new HashMap<>();

  Variables(EventType type) {
    for (Constant constant : type.constants()) {
      own.put(constant.name(), Variable.ofType(celValue(constant)));
    }
    for (int i = 0; i < type.fields().size(); i++) {
      own.put(type.fields().get(i).name(), field(type.fields().get(i), i));
    }
    own.forEach((name, variable) -> byName.put(FieldNames.beside(COMMON, name), variable));
    byName.put("type", Variable.ofType(type.name()));
    byName.put("level", Variable.ofType(type.level().label()));
    byName.put("host", Variable.ofBatch((group, event) -> group.batch().host()));
    byName.put("program", Variable.ofBatch((group, event) -> group.batch().program()));
    byName.put("pid", Variable.ofBatch((group, event) -> group.batch().pid()));
    byName.put("incarnation", Variable.ofBatch((group, event) -> group.batch().incarnation().toString()));
    byName.put("route", Variable.ofBatch((group, event) -> (long) group.batch().route()));
    byName.put(
        "sequence", Variable.ofBatch((group, event) -> UnsignedLong.fromLongBits(group.batch().sequence())));
    byName.put("ts", Variable.ofEvent(null, (group, event) -> instant(group.columns().timeNs()[event]), null));
    byName.put(
        "ts_ns",
        Variable.ofEvent(FieldType.I64, (group, event) -> group.columns().timeNs()[event], Columns::timeNs));
    byName.put(
        "thread",
        Variable.ofEvent(
            FieldType.U64, (group, event) -> UnsignedLong.fromLongBits(group.columns().thread()[event]),
            Columns::thread));
    byName.put(
        "event_index", Variable.ofEvent(null, (group, event) -> (long) group.columns().eventIndex()[event], null));
    byName.put(FIELDS, Variable.ofEvent(null, (group, event) -> new FieldMap(own, group, event), null));
  }

  /** Returns the variable with that name, or null if events of the type have none. */
  Variable find(String name) {
    return byName.get(name);
  }

  /** Returns the field or constant with exactly that name, or null. */
  Variable own(String name) {
    return own.get(name);
  }

  private static Variable field(Field field, int i) {
    FieldType type = field.type();
    return switch (type) {
      case U32, U64 ->
          new Variable(
              Variable.Scope.EVENT, type, (group, event) -> UnsignedLong.fromLongBits(group.columns().longs(i)[event]),
              columns -> columns.longs(i), i);
      case I32, I64 ->
          new Variable(
              Variable.Scope.EVENT, type, (group, event) -> group.columns().longs(i)[event],
              columns -> columns.longs(i), i);
      case BOOL ->
          new Variable(
              Variable.Scope.EVENT, type, (group, event) -> group.columns().longs(i)[event] != 0,
              columns -> columns.longs(i), i);
      case F32, F64 ->
          new Variable(
              Variable.Scope.EVENT, type, (group, event) -> group.columns().doubles(i)[event],
              columns -> columns.doubles(i), i);
      case STRING ->
          new Variable(Variable.Scope.EVENT, type, (group, event) -> text(group.columns(), i, event), null, i);
      case BYTES ->
          new Variable(
              Variable.Scope.EVENT, type, (group, event) -> CelByteString.of(bytes(group.columns(), i, event)), null,
              i);
    };
  }

  private static Object celValue(Constant constant) {
    Object value = constant.value();
    return switch (constant.type()) {
      case U32, U64 -> UnsignedLong.fromLongBits((Long) value);
      case I32, I64 -> ((Number) value).longValue();
      case F32, F64 -> ((Number) value).doubleValue();
      case BYTES -> CelByteString.of((byte[]) value);
      default -> value;
    };
  }

  private static String text(Columns columns, int field, int event) {
    return Utf8.decode(columns.raw(), columns.offsets(field)[event], columns.lengths(field)[event]);
  }

  private static byte[] bytes(Columns columns, int field, int event) {
    int from = columns.offsets(field)[event];
    return Arrays.copyOfRange(columns.raw(), from, from + columns.lengths(field)[event]);
  }

  private static Instant instant(long ns) {
    return Instant.ofEpochSecond(Math.floorDiv(ns, NS_PER_S), Math.floorMod(ns, NS_PER_S));
  }
}
