package io.lifeline.jobs.archive.export;

import io.lifeline.codec.FieldType;
import io.lifeline.jobs.core.Terminal;

/** Writes values as JSON, with characters that drive terminals or reorder text escaped. */
final class JsonText {
  private static final char[] HEX = "0123456789abcdef".toCharArray();

  private JsonText() {}

  /** Appends a JSON string. */
  static void append(StringBuilder out, String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"', '\\' -> out.append('\\').append(c);
        case '\n' -> out.append("\\n");
        case '\t' -> out.append("\\t");
        case '\r' -> out.append("\\r");
        default -> {
          if (c >= ' ' && c < 0x7f || !Terminal.isHarmful(c)) {
            out.append(c);
          } else {
            out.append("\\u").append(HEX[c >> 12]).append(HEX[c >> 8 & 15]).append(HEX[c >> 4 & 15])
                .append(HEX[c & 15]);
          }
        }
      }
    }
    out.append('"');
  }

  /** Appends a value; what JSON has no number for, as the string that {@link #word} returns. */
  static void append(StringBuilder out, FieldType type, Object value) {
    if (value == null) {
      out.append("null");
    } else if (value instanceof String text) {
      append(out, text);
    } else if (isFinite(value)) {
      appendNumber(out, type, value);
    } else {
      out.append('"').append(word(value)).append('"');
    }
  }

  static boolean isFinite(Object value) {
    return !(value instanceof Double || value instanceof Float) || Double.isFinite(((Number) value).doubleValue());
  }

  /** Returns the name of a value that is not finite. */
  static String word(Object value) {
    double number = ((Number) value).doubleValue();
    return Double.isNaN(number) ? "nan" : number > 0 ? "inf" : "-inf";
  }

  /** Appends a finite number or a truth value. */
  static void appendNumber(StringBuilder out, FieldType type, Object value) {
    if (value instanceof Double number) {
      NumberText.append(out, number);
    } else if (value instanceof Float number) {
      NumberText.append(out, number);
    } else if (type == FieldType.U64) {
      out.append(Long.toUnsignedString((Long) value));
    } else {
      out.append(value);
    }
  }
}
