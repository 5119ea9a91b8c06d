package io.lifeline.jobs.core.filter;

import io.lifeline.codec.ColumnarBatch.Columns;
import io.lifeline.codec.FieldType;
import java.util.function.Function;

/**
 * A name in a condition, resolved for one event type.
 *
 * @param scope the events that share one value
 * @param type type of the value; null if only CEL can determine it
 * @param values the value of one event, as CEL represents it
 * @param column the values of all events as a {@code long[]} or {@code double[]}; null if there is no such column
 * @param field index of the field, or -1
 */
record Variable(Scope scope, FieldType type, Values values, Function<Columns, ?> column, int field) {

  /** The events that share one value. */
  enum Scope {
    TYPE,
    BATCH,
    EVENT
  }

  /** Returns the value of one event of a group. */
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
