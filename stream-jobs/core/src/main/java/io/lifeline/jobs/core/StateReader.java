package io.lifeline.jobs.core;

import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;

/** Reads what {@link StateWriter} wrote. State is stored on a broker, so it is untrusted and validated. */
public final class StateReader {

  /** Thrown if the state is invalid, or in a layout that this release does not read. */
  public static class CorruptStateException extends RuntimeException {
    CorruptStateException(String message) {
      super(message);
    }
  }

  /** Thrown if a later release wrote the state. It is intact, and that release can continue with it. */
  public static final class NewerStateException extends CorruptStateException {
    NewerStateException(int found, int newest) {
      super("a later release wrote the state (layout " + found + ", this release reads up to " + newest + "): run that "
          + "release, or start the jobs over: " + START_OVER);
    }
  }

  private static final String START_OVER = "on NATS set another nats.bucket or remove this one, on Kafka set another "
      + "kafka.application.id";

  private final byte[] bytes;
  private int at;

  public StateReader(byte[] bytes) {
    this.bytes = bytes;
  }

  /** Checks the version that {@link StateWriter#version} wrote, where no other was ever released. */
  public StateReader version(int only) {
    versions(only, only);
    return this;
  }

  /**
   * Reads the version that {@link StateWriter#version} wrote; the caller reads each from the oldest to the newest.
   *
   * @throws NewerStateException if a later release wrote it
   */
  public int versions(int oldest, int newest) {
    int found = fixed8();
    if (found > newest) {
      throw new NewerStateException(found, newest);
    }
    if (found < oldest) {
      throw new CorruptStateException("the state has layout " + found + ", and this release reads none before " + oldest
          + ": run an earlier release, or start the jobs over: " + START_OVER);
    }
    return found;
  }

  public int fixed8() {
    need(1);
    return bytes[at++] & 0xFF;
  }

  public int fixed32() {
    need(4);
    int value = 0;
    for (int shift = 0; shift < 32; shift += 8) {
      value |= (bytes[at++] & 0xFF) << shift;
    }
    return value;
  }

  public long fixed64() {
    long low = fixed32() & 0xFFFFFFFFL;
    return low | (long) fixed32() << 32;
  }

  public double real() {
    return Double.longBitsToDouble(fixed64());
  }

  public long varint() {
    long value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      int b = fixed8();
      value |= (long) (b & 0x7F) << shift;
      if (b < 0x80) {
        return value;
      }
    }
    throw new CorruptStateException("a number in the state is longer than 64 bits");
  }

  /** Reads seconds and nanoseconds since the epoch. */
  public Instant instant() {
    try {
      return Instant.ofEpochSecond(varint(), varint());
    } catch (DateTimeException | ArithmeticException e) {
      throw new CorruptStateException("a time in the state is out of range");
    }
  }

  public long zigzag() {
    long value = varint();
    return (value >>> 1) ^ -(value & 1);
  }

  /** Reads a count of entries of at least that many bytes each; a forged count cannot cause a large allocation. */
  public int count(int bytesPerEntry) {
    long value = varint();
    if (value < 0 || value > (bytes.length - at) / bytesPerEntry) {
      throw new CorruptStateException("state counts more entries than it holds");
    }
    return (int) value;
  }

  public byte[] blob() {
    int size = count(1);
    at += size;
    return Arrays.copyOfRange(bytes, at - size, at);
  }

  public String text() {
    return new String(blob(), StandardCharsets.UTF_8);
  }

  public boolean atEnd() {
    return at == bytes.length;
  }

  private void need(int count) {
    if (bytes.length - at < count) {
      throw new CorruptStateException("state ends after " + bytes.length + " bytes, in the middle of a value");
    }
  }
}
