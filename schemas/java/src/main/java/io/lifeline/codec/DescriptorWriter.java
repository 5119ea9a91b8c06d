package io.lifeline.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;

/** Writes the content of a descriptor: its bytes from the level up to the padding (FORMAT section 4). */
final class DescriptorWriter {
  static final int CONTENT_OFFSET = 16;
  static final int MAX_NAME = 255;

  private DescriptorWriter() {}

  /**
   * Returns the descriptor's content in the given byte order.
   *
   * @throws IllegalArgumentException if the type breaks a limit of the format
   */
  static byte[] content(EventType type, ByteOrder order) {
    check(type);
    ByteBuffer out = ByteBuffer.allocate(maxLength(type)).order(order);
    out.put((byte) type.level().number());
    out.put((byte) type.fields().size());
    out.put((byte) type.constants().size());
    out.put((byte) 0);
    putText(out, type.name());
    for (Field field : type.fields()) {
      putField(out, field.type(), field.name(), field.unit());
    }
    for (Constant constant : type.constants()) {
      putField(out, constant.type(), constant.name(), constant.unit());
      putValue(out, constant);
    }
    byte[] content = new byte[out.position()];
    out.flip().get(content);
    return content;
  }

  private static void check(EventType type) {
    checkName(type.name());
    if (type.fields().size() > 255 || type.constants().size() > 255) {
      throw new IllegalArgumentException(type.name() + ": at most 255 fields and 255 constants");
    }
    Set<String> names = new HashSet<>();
    for (Field field : type.fields()) {
      checkField(type, names, field.name(), field.unit());
    }
    for (Constant constant : type.constants()) {
      checkField(type, names, constant.name(), constant.unit());
    }
  }

  private static void checkField(EventType type, Set<String> names, String name, String unit) {
    checkName(name);
    if (utf8(unit).length > MAX_NAME) {
      throw new IllegalArgumentException(type.name() + ": a unit is at most 255 bytes");
    }
    if (!names.add(name)) {
      throw new IllegalArgumentException(type.name() + ": two fields or constants are called " + name);
    }
  }

  private static void checkName(String name) {
    int length = utf8(name).length;
    if (length == 0 || length > MAX_NAME) {
      throw new IllegalArgumentException("a name is 1 to 255 bytes, not " + length);
    }
  }

  private static int maxLength(EventType type) {
    int length = 4 + 2 + MAX_NAME;
    int perField = 1 + 2 * (2 + MAX_NAME);
    length += perField * (type.fields().size() + type.constants().size());
    for (Constant constant : type.constants()) {
      length += constant.type().isVariable() ? 2 + variable(constant).length : constant.type().size();
    }
    return length;
  }

  private static void putField(ByteBuffer out, FieldType type, String name, String unit) {
    out.put((byte) type.code());
    putText(out, name);
    putText(out, unit);
  }

  private static void putValue(ByteBuffer out, Constant constant) {
    Object value = constant.value();
    switch (constant.type()) {
      case I32:
        out.putInt((Integer) value);
        break;
      case U32:
        out.putInt((int) (long) (Long) value);
        break;
      case I64:
      case U64:
        out.putLong((Long) value);
        break;
      case F32:
        out.putInt(Float.floatToRawIntBits((Float) value));
        break;
      case F64:
        out.putLong(Double.doubleToRawLongBits((Double) value));
        break;
      case BOOL:
        out.put((byte) ((Boolean) value ? 1 : 0));
        break;
      default:
        putBytes(out, variable(constant));
    }
  }

  private static byte[] variable(Constant constant) {
    byte[] bytes = constant.type() == FieldType.STRING ? utf8((String) constant.value()) : (byte[]) constant.value();
    if (bytes.length > 0xffff) {
      throw new IllegalArgumentException("constant " + constant.name() + " is longer than 65535 bytes");
    }
    return bytes;
  }

  static void putText(ByteBuffer out, String text) {
    putBytes(out, utf8(text));
  }

  private static void putBytes(ByteBuffer out, byte[] bytes) {
    out.putShort((short) bytes.length);
    out.put(bytes);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
