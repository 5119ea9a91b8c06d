package io.lifeline.codec;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The header of the batch that a {@link BatchReader} holds; valid until the reader's next batch. */
public final class BatchHeader {
  /** The last batch of its (incarnation, route). */
  public static final int FINAL = 1;

  /** Written by a recovery after the emitter's process died. */
  public static final int RECOVERED = 1 << 1;

  /** The tick jumped without explanation. */
  public static final int CLOCK_UNCERTAIN = 1 << 2;

  /** A filter made it from another batch. */
  public static final int DERIVED = 1 << 3;

  static final int IGNORED_FLAGS = 0xff00;
  static final int FIXED_LENGTH = 96;
  static final int CRC_LENGTH = 4;
  static final int SEGMENT_ENTRY = 16;
  static final int PARENT_LENGTH = 40;
  static final int MAX_TEXT = 4096;
  static final int MAX_RAW_BYTES = 1_048_576;

  boolean bigEndian;
  Compression compression;
  int shuffle;
  int flags;
  int headerLength;
  Incarnation incarnation;
  long sequence;
  long baseTick;
  long tickHz;
  int totalLength;
  int descriptorsLength;
  int eventsLength;
  int rawLength;
  int eventCount;
  long pid;
  int route;
  boolean monotonicTicks;
  int crc;
  String host;
  String program;
  String routeName;
  Parent parent;

  int counterCount;
  long[] counters = new long[Counter.values().length];
  int segmentCount;
  long[] segmentThread = new long[16];
  int[] segmentBytes = new int[16];
  int[] segmentEvents = new int[16];
  final TickClock clock = new TickClock();
  final List<Map.Entry<String, String>> context = new ArrayList<>();

  BatchHeader() {}

  public ByteOrder byteOrder() {
    return bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
  }

  public Compression compression() {
    return compression;
  }

  /** Returns 0, or the stride of the byte shuffle, plus 1 if ticks were stored as differences. */
  public int shuffle() {
    return shuffle;
  }

  public int flags() {
    return flags;
  }

  public boolean has(int flag) {
    return (flags & flag) != 0;
  }

  public Incarnation incarnation() {
    return incarnation;
  }

  /** Returns the batch's number within its (incarnation, route), from 1; unsigned. */
  public long sequence() {
    return sequence;
  }

  public long baseTick() {
    return baseTick;
  }

  public long tickHz() {
    return tickHz;
  }

  /** Returns whether a tick is a nanosecond of CLOCK_MONOTONIC_RAW rather than a tick of the CPU's counter. */
  public boolean monotonicTicks() {
    return monotonicTicks;
  }

  /** Returns the size of the whole batch, in bytes. */
  public int totalLength() {
    return totalLength;
  }

  public int eventCount() {
    return eventCount;
  }

  public long pid() {
    return pid;
  }

  public int route() {
    return route;
  }

  public String routeName() {
    return routeName;
  }

  public String host() {
    return host;
  }

  public String program() {
    return program;
  }

  /** Returns the CRC-32C of everything before it. */
  public int crc() {
    return crc;
  }

  /** Returns the number of counters: the twelve of {@link Counter}, and any that a later format adds. */
  public int counterCount() {
    return counterCount;
  }

  /** Returns a counter; unsigned. */
  public long counter(int number) {
    return counters[Objects.checkIndex(number, counterCount)];
  }

  public List<Calibration> calibrations() {
    List<Calibration> all = new ArrayList<>(clock.count());
    for (int i = 0; i < clock.count(); i++) {
      all.add(clock.calibration(i));
    }
    return all;
  }

  public int segmentCount() {
    return segmentCount;
  }

  /** Returns the kernel's ID of the thread that emitted this segment. */
  public long segmentThread(int segment) {
    return segmentThread[Objects.checkIndex(segment, segmentCount)];
  }

  public int segmentEvents(int segment) {
    return segmentEvents[Objects.checkIndex(segment, segmentCount)];
  }

  /** Returns the batch that this one was made from, or null without the flag DERIVED. */
  public Parent parent() {
    return parent;
  }

  /** Returns all pairs in order, repeated keys included. */
  public List<Map.Entry<String, String>> contextPairs() {
    return List.copyOf(context);
  }

  /** Returns the context; of a repeated key, the last value. */
  public Map<String, String> context() {
    Map<String, String> map = new LinkedHashMap<>();
    context.forEach(pair -> map.put(pair.getKey(), pair.getValue()));
    return map;
  }
}
