package io.lifeline.codec;

import java.nio.charset.StandardCharsets;

/** Reads texts and values of a section that may be shorter than its lengths claim. */
final class TextReader {
  private final Findings findings;
  private byte[] bytes;
  private int start;
  private int at;
  private int end;
  private boolean bigEndian;
  private boolean overran;

  TextReader(Findings findings) {
    this.findings = findings;
  }

  /** Starts at {@code from} of the batch that begins at {@code batchStart}, and ends before {@code to}. */
  void start(byte[] message, int batchStart, int from, int to, boolean isBigEndian) {
    bytes = message;
    start = batchStart;
    at = from;
    end = to;
    bigEndian = isBigEndian;
    overran = false;
  }

  /** Returns where the next value starts, from the start of the batch. */
  int position() {
    return at;
  }

  /** Returns whether a read went beyond the end; all values since then are empty or 0. */
  boolean overran() {
    return overran;
  }

  /** Skips that many bytes; returns their index in the array, or -1 if there are fewer. */
  int take(int length) {
    if (overran || length > end - at) {
      overran = true;
      return -1;
    }
    int place = start + at;
    at += length;
    return place;
  }

  int u8() {
    int place = take(1);
    return place < 0 ? 0 : bytes[place] & 0xff;
  }

  int u16() {
    int place = take(2);
    return place < 0 ? 0 : Bytes.getU16(bytes, place, bigEndian);
  }

  int i32() {
    int place = take(4);
    return place < 0 ? 0 : Bytes.getInt(bytes, place, bigEndian);
  }

  long i64() {
    int place = take(8);
    return place < 0 ? 0 : Bytes.getLong(bytes, place, bigEndian);
  }

  byte[] bytes() {
    int length = u16();
    int place = take(length);
    byte[] value = new byte[place < 0 ? 0 : length];
    if (place >= 0) {
      System.arraycopy(bytes, place, value, 0, length);
    }
    return value;
  }

  /** Reads a {@code str16} that must be UTF-8 and have {@code min} to {@code max} bytes. */
  String next(String what, int min, int max) {
    int textAt = at;
    int length = u16();
    int place = take(length);
    if (place < 0) {
      return "";
    }
    if (length < min || length > max) {
      findings.report(Fault.BAD_TEXT, textAt, what + " has " + length + " bytes, not " + min + " to " + max);
      return "";
    }
    if (!Utf8.isWellFormed(bytes, place, length)) {
      findings.report(Fault.BAD_TEXT, textAt, what + " is not UTF-8");
      return "";
    }
    return new String(bytes, place, length, StandardCharsets.UTF_8);
  }
}
