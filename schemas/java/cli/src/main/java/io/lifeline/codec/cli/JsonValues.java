package io.lifeline.codec.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.lifeline.codec.FieldType;
import java.io.IOException;
import java.util.HexFormat;

/** Values of fields and constants in JSON: 64 bits as decimal strings, floats exactly, bytes as hexadecimal. */
final class JsonValues {
  private static final String NAN = "nan:";

  private JsonValues() {}

  static void write(JsonGenerator json, FieldType type, Object value) throws IOException {
    switch (type) {
      case I32:
      case U32:
        json.writeNumber(((Number) value).longValue());
        break;
      case I64:
        json.writeString(value.toString());
        break;
      case U64:
        json.writeString(Long.toUnsignedString((Long) value));
        break;
      case F32:
        writeFloat(json, (Float) value);
        break;
      case F64:
        writeDouble(json, (Double) value);
        break;
      case BOOL:
        json.writeBoolean((Boolean) value);
        break;
      case STRING:
        json.writeString((String) value);
        break;
      default:
        json.writeString(HexFormat.of().formatHex((byte[]) value));
    }
  }

  private static void writeFloat(JsonGenerator json, float value) throws IOException {
    if (Float.isNaN(value)) {
      json.writeString(NAN + HexFormat.of().toHexDigits(Float.floatToRawIntBits(value)));
    } else if (Float.isInfinite(value)) {
      json.writeString(value > 0 ? "inf" : "-inf");
    } else if (Float.floatToRawIntBits(value) == Integer.MIN_VALUE) {
      json.writeString("-0");
    } else {
      json.writeNumber(value);
    }
  }

  private static void writeDouble(JsonGenerator json, double value) throws IOException {
    if (Double.isNaN(value)) {
      json.writeString(NAN + HexFormat.of().toHexDigits(Double.doubleToRawLongBits(value)));
    } else if (Double.isInfinite(value)) {
      json.writeString(value > 0 ? "inf" : "-inf");
    } else if (Double.doubleToRawLongBits(value) == Long.MIN_VALUE) {
      json.writeString("-0");
    } else {
      json.writeNumber(value);
    }
  }

  /**
   * Returns the value as {@link io.lifeline.codec.Constant} and {@link io.lifeline.codec.BatchWriter} accept it.
   *
   * @throws IllegalArgumentException if the JSON value is not of that type
   */
  static Object read(FieldType type, JsonNode node) {
    switch (type) {
      case I32:
        return Math.toIntExact(JsonFields.integer(node));
      case U32:
        return JsonFields.integer(node);
      case I64:
        return Long.parseLong(JsonFields.text(node));
      case U64:
        return Long.parseUnsignedLong(JsonFields.text(node));
      case F32:
        return readFloat(node);
      case F64:
        return readDouble(node);
      case BOOL:
        return JsonFields.bool(node);
      case STRING:
        return JsonFields.text(node);
      default:
        return HexFormat.of().parseHex(JsonFields.text(node));
    }
  }

  private static Float readFloat(JsonNode node) {
    if (node.isNumber()) {
      float value = Float.parseFloat(node.asText());
      checkRange(Float.isFinite(value));
      return value;
    }
    String text = JsonFields.text(node);
    if (text.startsWith(NAN)) {
      float value = Float.intBitsToFloat((int) nanBits(text, Float.BYTES));
      checkNaN(Float.isNaN(value));
      return value;
    }
    return (float) special(text);
  }

  private static Double readDouble(JsonNode node) {
    if (node.isNumber()) {
      double value = Double.parseDouble(node.asText());
      checkRange(Double.isFinite(value));
      return value;
    }
    String text = JsonFields.text(node);
    if (text.startsWith(NAN)) {
      double value = Double.longBitsToDouble(nanBits(text, Double.BYTES));
      checkNaN(Double.isNaN(value));
      return value;
    }
    return special(text);
  }

  private static long nanBits(String text, int bytes) {
    String digits = text.substring(NAN.length());
    if (digits.length() != 2 * bytes) {
      throw new IllegalArgumentException("a NaN has " + 2 * bytes + " hex digits");
    }
    return Long.parseUnsignedLong(digits, 16);
  }

  private static void checkNaN(boolean isNaN) {
    if (!isNaN) {
      throw new IllegalArgumentException("the bits behind \"nan:\" are those of another number");
    }
  }

  private static void checkRange(boolean finite) {
    if (!finite) {
      throw new IllegalArgumentException("a float is too large for its type");
    }
  }

  private static double special(String text) {
    switch (text) {
      case "inf":
        return Double.POSITIVE_INFINITY;
      case "-inf":
        return Double.NEGATIVE_INFINITY;
      case "-0":
        return -0.0;
      default:
        throw new IllegalArgumentException("a float is a number, \"inf\", \"-inf\", \"-0\" or \"nan:<bits>\"");
    }
  }
}
