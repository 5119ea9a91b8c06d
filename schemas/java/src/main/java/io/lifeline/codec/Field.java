package io.lifeline.codec;

import java.util.Objects;

/** A typed value that each event of a type carries. */
public final class Field {
  private final String name;
  private final FieldType type;
  private final String unit;

  public Field(String name, FieldType type, String unit) {
    this.name = Objects.requireNonNull(name, "name");
    this.type = Objects.requireNonNull(type, "type");
    this.unit = Objects.requireNonNull(unit, "unit");
  }

  public String name() {
    return name;
  }

  public FieldType type() {
    return type;
  }

  /** Returns the unit, such as {@code B} or {@code ns}; empty if the value has none. */
  public String unit() {
    return unit;
  }

  @Override
  public String toString() {
    return type.label() + " " + name + (unit.isEmpty() ? "" : " [" + unit + "]");
  }
}
