package io.lifeline.jobs.core.filter;

import io.lifeline.codec.ColumnarBatch.Columns;
import io.lifeline.codec.FieldType;
import java.util.function.Function;

/**
 * What a name in a condition stands for, where events of one type are judged.
 *
 * @param scope how far its value reaches
 * @param type what kind of value it has; null if only CEL itself can tell
 * @param values the value of one event, as CEL wants it
 * @param column the values of all events as a {@code long[]} or {@code double[]}; null if there is no such column
 * @param field the field's position, or -1
 */
record Variable(Scope scope, FieldType type, Values values, Function<Columns, ?> column, int field) {

  /** How far one value reaches. */
  enum Scope {
    TYPE,
    BATCH,
    EVENT
  }

  /** Gives the value of one event of a group. */
  @FunctionalInterface
  interface Values {
    Object of(EventGroup group, int event);
  }

  static Variable ofType(Object value) {
    return new Variable(Scope.TYPE, null, (group, event) -> value, null, -1);
  }

  static Variable ofBatch(Values values) {
    return new Variable(Scope.BATCH, null, values, null, -1);
  }

  static Variable ofEvent(FieldType type, Values values, Function<Columns, ?> column) {
    return new Variable(Scope.EVENT, type, values, column, -1);
  }

  boolean isText() {
    return field >= 0 && type == FieldType.STRING;
  }
}
