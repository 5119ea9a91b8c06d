package io.lifeline.codec;

import java.util.Objects;

/** A value that all events of a type share; the descriptor holds it once. */
public final class Constant {
  private final Field field;
  private final Object value;

  /**
   * @param value an {@link Integer} for i32, a {@link Long} for i64, u32 and u64 (whose bits it holds), a {@link Float}
   *     for f32, a {@link Double} for f64, a {@link Boolean}, a {@link String}, or a {@code byte[]}
   */
  public Constant(String name, FieldType type, String unit, Object value) {
    this.field = new Field(name, type, unit);
    this.value = javaClass(type).cast(Objects.requireNonNull(value, "value"));
    if (type == FieldType.U32 && ((Long) value) >>> 32 != 0) {
      throw new IllegalArgumentException("constant " + name + " does not fit a u32");
    }
  }

  public String name() {
    return field.name();
  }

  public FieldType type() {
    return field.type();
  }

  public String unit() {
    return field.unit();
  }

  /** Returns the value, of the class that the constructor lists for {@link #type()}. */
  public Object value() {
    return value instanceof byte[] ? ((byte[]) value).clone() : value;
  }

  private static Class<?> javaClass(FieldType type) {
    switch (type) {
      case I32:
        return Integer.class;
      case F32:
        return Float.class;
      case F64:
        return Double.class;
      case BOOL:
        return Boolean.class;
      case STRING:
        return String.class;
      case BYTES:
        return byte[].class;
      default:
        return Long.class;
    }
  }

  @Override
  public String toString() {
    return field + " = " + (value instanceof byte[] ? ((byte[]) value).length + " bytes" : value);
  }
}
