package io.lifeline.codec;

import java.util.Locale;

/** The nine types of a field; the codes are those of FORMAT section 5. */
public enum FieldType {
  I32(4),
  I64(8),
  F32(4),
  F64(8),
  STRING(0),
  U32(4),
  U64(8),
  BOOL(1),
  BYTES(0);

  private static final FieldType[] VALUES = values();

  private final int size;
  private final String label = name().toLowerCase(Locale.ROOT);

  FieldType(int size) {
    this.size = size;
  }

  /** Returns the code: 1 for i32 to 9 for bytes. */
  public int code() {
    return ordinal() + 1;
  }

  /** Returns the size in a record, or 0 for strings and bytes, which carry their own length. */
  public int size() {
    return size;
  }

  /** Returns true for strings and bytes. */
  public boolean isVariable() {
    return size == 0;
  }

  /** Returns true for f32 and f64. */
  public boolean isFloating() {
    return this == F32 || this == F64;
  }

  /** Returns true for i32, i64, u32, u64 and bool, the types that {@link BatchReader#getLong} reads. */
  public boolean isIntegral() {
    return size != 0 && !isFloating();
  }

  /** Returns the name as FORMAT writes it, such as {@code u64}. */
  public String label() {
    return label;
  }

  /** Returns the type with that code, or null if there is none. */
  static FieldType ofCode(int code) {
    return code >= 1 && code <= VALUES.length ? VALUES[code - 1] : null;
  }
}
