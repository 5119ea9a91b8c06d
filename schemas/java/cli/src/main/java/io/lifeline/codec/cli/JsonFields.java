package io.lifeline.codec.cli;

import com.fasterxml.jackson.databind.JsonNode;

/** Reads members of a JSON object; errors name members that are missing or of the wrong type. */
final class JsonFields {
  private JsonFields() {}

  static JsonNode member(JsonNode object, String name) {
    JsonNode member = object.get(name);
    if (member == null) {
      throw new IllegalArgumentException("\"" + name + "\" is missing");
    }
    return member;
  }

  static JsonNode list(JsonNode object, String name) {
    JsonNode member = member(object, name);
    if (!member.isArray()) {
      throw new IllegalArgumentException("\"" + name + "\" is no list");
    }
    return member;
  }

  static String text(JsonNode object, String name) {
    return text(member(object, name));
  }

  static String text(JsonNode node) {
    if (!node.isTextual()) {
      throw new IllegalArgumentException("expected a string, found " + node.getNodeType());
    }
    return node.textValue();
  }

  static long unsigned(JsonNode object, String name) {
    return Long.parseUnsignedLong(text(object, name));
  }

  static int i32(JsonNode object, String name) {
    return Math.toIntExact(integer(member(object, name)));
  }

  static long integer(JsonNode node) {
    if (!node.isIntegralNumber() || !node.canConvertToLong()) {
      throw new IllegalArgumentException("expected an integer, found " + node.getNodeType());
    }
    return node.longValue();
  }

  static boolean bool(JsonNode node) {
    if (!node.isBoolean()) {
      throw new IllegalArgumentException("expected true or false, found " + node.getNodeType());
    }
    return node.booleanValue();
  }

  /** Returns the constant of an enumeration whose name is the text in upper case. */
  static <E extends Enum<E>> E constant(Class<E> type, JsonNode object, String name) {
    String text = text(object, name);
    for (E constant : type.getEnumConstants()) {
      if (constant.name().equalsIgnoreCase(text)) {
        return constant;
      }
    }
    throw new IllegalArgumentException("\"" + name + "\" cannot be \"" + text + "\"");
  }
}
