package io.lifeline.codec;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * What the events of one kind have in common: name, level, fields and constants. A change in any of these makes another
 * type. One {@link BatchReader} returns the same instance for the same type in all its batches; instances of different
 * readers are equal.
 *
 * <p>The 16-bit number by which a batch's records refer to their type belongs to the batch, not to the type: see {@link
 * BatchReader#typeNumber()}.
 */
public final class EventType {
  private final String name;
  private final Level level;
  private final List<Field> fields;
  private final List<Constant> constants;
  private final byte[] content;
  private final long hash;
  private final RecordLayout layout;

  EventType(String name, Level level, List<Field> fields, List<Constant> constants) {
    this.name = Objects.requireNonNull(name, "name");
    this.level = Objects.requireNonNull(level, "level");
    this.fields = List.copyOf(fields);
    this.constants = List.copyOf(constants);
    this.content = DescriptorWriter.content(this, ByteOrder.LITTLE_ENDIAN);
    this.hash = Fnv1a.hash(content);
    this.layout = new RecordLayout(this.fields);
  }

  /** Starts the description of a type. */
  public static Builder named(String name) {
    return new Builder(name);
  }

  /**
   * Returns the FNV-1a hash of the descriptor's content: the identity of the type on every machine (FORMAT section 4).
   */
  public long hash() {
    return hash;
  }

  /** Returns {@link #hash()} as 16 lower-case hexadecimal digits. */
  public String hashHex() {
    return Hex.of(hash);
  }

  public Level level() {
    return level;
  }

  public String name() {
    return name;
  }

  /** Returns the fields of each event, in order; unmodifiable. */
  public List<Field> fields() {
    return fields;
  }

  /** Returns the values that all events of the type share; unmodifiable. */
  public List<Constant> constants() {
    return constants;
  }

  /** Returns the index of the field with that name, or -1. */
  public int fieldIndex(String fieldName) {
    for (int i = 0; i < fields.size(); i++) {
      if (fields.get(i).name().equals(fieldName)) {
        return i;
      }
    }
    return -1;
  }

  RecordLayout layout() {
    return layout;
  }

  /** Returns the bytes that the hash covers; do not change them. */
  byte[] content() {
    return content;
  }

  /** Compares content, not only the hash: FNV hashes can be forged. */
  @Override
  public boolean equals(Object other) {
    return this == other
        || other instanceof EventType
            && ((EventType) other).hash == hash
            && Arrays.equals(((EventType) other).content, content);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(hash);
  }

  @Override
  public String toString() {
    return name + fields;
  }

  /** Describes a type field by field. */
  public static final class Builder {
    private final String name;
    private final List<Field> fields = new ArrayList<>();
    private final List<Constant> constants = new ArrayList<>();
    private Level level = Level.INFO;

    private Builder(String name) {
      this.name = name;
    }

    public Builder level(Level value) {
      level = value;
      return this;
    }

    public Builder field(String fieldName, FieldType type, String unit) {
      fields.add(new Field(fieldName, type, unit));
      return this;
    }

    /** Adds a field without a unit. */
    public Builder field(String fieldName, FieldType type) {
      return field(fieldName, type, "");
    }

    /** Adds a constant; see {@link Constant} for the class that {@code value} must have. */
    public Builder constant(String constantName, FieldType type, String unit, Object value) {
      constants.add(new Constant(constantName, type, unit, value));
      return this;
    }

    /**
     * @throws IllegalArgumentException if the description breaks FORMAT section 4: a name that is empty, too long or
     *     repeated, more than 255 fields or constants
     */
    public EventType build() {
      return new EventType(name, level, fields, constants);
    }
  }
}
