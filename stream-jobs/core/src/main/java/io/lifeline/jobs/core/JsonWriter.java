package io.lifeline.jobs.core;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Writes one JSON document. Non-finite numbers, which JSON lacks, become null. Not thread-safe; reusable. */
public final class JsonWriter {

  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  private byte[] bytes = new byte[512];
  private int length;
  private boolean needsComma;

  /** Discards the document and starts a new one. */
  public JsonWriter reset() {
    length = 0;
    needsComma = false;
    return this;
  }

  public JsonWriter beginObject() {
    separate();
    put('{');
    needsComma = false;
    return this;
  }

  public JsonWriter endObject() {
    put('}');
    needsComma = true;
    return this;
  }

  public JsonWriter beginArray() {
    separate();
    put('[');
    needsComma = false;
    return this;
  }

  public JsonWriter endArray() {
    put(']');
    needsComma = true;
    return this;
  }

  public JsonWriter name(String name) {
    separate();
    quoted(name);
    put(':');
    needsComma = false;
    return this;
  }

  public JsonWriter value(String text) {
    separate();
    if (text == null) {
      ascii("null");
    } else {
      quoted(text);
    }
    return this;
  }

  public JsonWriter value(long number) {
    separate();
    ascii(Long.toString(number));
    return this;
  }

  public JsonWriter valueUnsigned(long number) {
    separate();
    ascii(Long.toUnsignedString(number));
    return this;
  }

  public JsonWriter value(double number) {
    separate();
    ascii(Double.isFinite(number) ? decimal(number) : "null");
    return this;
  }

  public JsonWriter value(boolean truth) {
    separate();
    ascii(truth ? "true" : "false");
    return this;
  }

  /** Writes text that is a JSON value already. */
  public JsonWriter literal(String json) {
    separate();
    ascii(json);
    return this;
  }

  public JsonWriter field(String name, String text) {
    return name(name).value(text);
  }

  public JsonWriter field(String name, long number) {
    return name(name).value(number);
  }

  public JsonWriter field(String name, double number) {
    return name(name).value(number);
  }

  public JsonWriter field(String name, boolean truth) {
    return name(name).value(truth);
  }

  public byte[] toBytes() {
    return Arrays.copyOf(bytes, length);
  }

  @Override
  public String toString() {
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }

  /** Formats whole numbers without the fraction that Java adds: 5, not 5.0. */
  private static String decimal(double number) {
    boolean whole = number == Math.rint(number) && Math.abs(number) < 1e15;
    boolean negativeZero = number == 0 && 1 / number < 0;
    return whole && !negativeZero ? Long.toString((long) number) : Double.toString(number);
  }

  private void separate() {
    if (needsComma) {
      put(',');
    }
    needsComma = true;
  }

  private void quoted(String text) {
    put('"');
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      switch (b) {
        case '"', '\\' -> {
          put('\\');
          put(b);
        }
        case '\n' -> ascii("\\n");
        case '\t' -> ascii("\\t");
        case '\r' -> ascii("\\r");
        default -> {
          if (b >= 0 && b < 0x20) {
            ascii("\\u00");
            put(HEX[b >> 4]);
            put(HEX[b & 15]);
          } else {
            put(b);
          }
        }
      }
    }
    put('"');
  }

  private void ascii(String text) {
    for (int i = 0; i < text.length(); i++) {
      put(text.charAt(i));
    }
  }

  private void put(int b) {
    if (length == bytes.length) {
      bytes = Arrays.copyOf(bytes, 2 * length);
    }
    bytes[length++] = (byte) b;
  }
}
