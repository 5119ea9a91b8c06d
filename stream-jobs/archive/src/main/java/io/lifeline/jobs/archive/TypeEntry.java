package io.lifeline.jobs.archive;

import io.lifeline.codec.Constant;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.core.JsonWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * An event type as archives describe it, with names that every archive can store: {@link Sql#clean}.
 *
 * @param id identifies the type inside the archive: the beginning of a SHA-256 over the whole description, since the
 *     FNV hash can be forged
 * @param hash the type's identity in batches, 16 hex digits
 */
public record TypeEntry(
    String id, String hash, String level, String name, List<FieldEntry> fields, List<ConstantEntry> constants) {

  /**
   * Returns the index of the field {@code id}, which ties events to lifelines; -1 if there is none, or it has type
   * bytes.
   */
  public int idField() {
    for (int i = 0; i < fields.size(); i++) {
      if (fields.get(i).name().equals("id") && fields.get(i).fieldType() != FieldType.BYTES) {
        return i;
      }
    }
    return -1;
  }

  /** A field; {@code type} is written as in FORMAT.md. */
  public record FieldEntry(String name, String type, String unit) {
    public FieldType fieldType() {
      return FieldType.valueOf(type.toUpperCase(Locale.ROOT));
    }
  }

  /** A constant; {@code value} is decimal text, true or false, the string itself, or bytes as hex digits. */
  public record ConstantEntry(String name, String type, String unit, String value) {
    public FieldType fieldType() {
      return FieldType.valueOf(type.toUpperCase(Locale.ROOT));
    }

    /** Writes the value the same way as fields are written. */
    public void writeJson(JsonWriter json) {
      switch (fieldType()) {
        case STRING, BYTES -> json.value(value);
        case BOOL -> json.value(Boolean.parseBoolean(value));
        case F32, F64 -> Json.number(json, Double.parseDouble(value));
        case U64 -> json.valueUnsigned(Long.parseUnsignedLong(value));
        default -> json.value(Long.parseLong(value));
      }
    }
  }

  public static TypeEntry of(EventType type) {
    List<FieldEntry> fields =
        type.fields().stream().map(f -> new FieldEntry(f.name(), f.type().label(), f.unit())).toList();
    List<ConstantEntry> constants =
        type.constants().stream()
            .map(c -> new ConstantEntry(c.name(), c.type().label(), c.unit(), text(c)))
            .toList();
    return new TypeEntry(id(type), type.hashHex(), type.level().label(), type.name(), fields, constants).clean();
  }

  /** Returns the entry with clean names and texts; names that only differed in NUL characters stay distinct. */
  public TypeEntry clean() {
    Set<String> names = new HashSet<>();
    return new TypeEntry(id, hash, level, Sql.clean(name),
        fields.stream().map(field ->
            new FieldEntry(cleanOther(field.name, names), field.type, Sql.clean(field.unit))).toList(),
        constants.stream().map(constant -> new ConstantEntry(
            cleanOther(constant.name, names), constant.type, Sql.clean(constant.unit), Sql.clean(constant.value)))
            .toList());
  }

  private static String cleanOther(String name, Set<String> those) {
    String clean = Sql.clean(name);
    while (!those.add(clean)) {
      clean += "~";
    }
    return clean;
  }

  public static String id(EventType type) {
    MessageDigest digest = sha256();
    update(digest, type.level().label());
    update(digest, type.name());
    for (Field field : type.fields()) {
      update(digest, "field", field.type().label(), field.name(), field.unit());
    }
    for (Constant constant : type.constants()) {
      update(digest, "constant", constant.type().label(), constant.name(), constant.unit(), text(constant));
    }
    return HexFormat.of().formatHex(digest.digest(), 0, 16);
  }

  public List<FieldType> fieldTypes() {
    return fields.stream().map(FieldEntry::fieldType).toList();
  }

  private static void update(MessageDigest digest, String... texts) {
    for (String text : texts) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      digest.update(ByteBuffer.allocate(4).putInt(bytes.length).flip());
      digest.update(bytes);
    }
  }

  private static String text(Constant constant) {
    Object value = constant.value();
    if (value instanceof byte[] bytes) {
      return HexFormat.of().formatHex(bytes);
    }
    return constant.type() == FieldType.U64 ? Long.toUnsignedString((Long) value) : value.toString();
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
