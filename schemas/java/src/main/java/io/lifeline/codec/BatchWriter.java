package io.lifeline.codec;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * Builds a batch. Arguments must be valid, or an {@link IllegalArgumentException} names the fault. By default it writes
 * a little-endian, uncompressed batch with sequence 1, one calibration (tick 0 at time 0, ticks of a nanosecond), and
 * all counters zero except {@code emitted}, which is the event count.
 */
public final class BatchWriter {
  private static final class Segment {
    final long thread;
    int bytes;
    int events;

    Segment(long thread) {
      this.thread = thread;
    }
  }

  private ByteOrder order = ByteOrder.LITTLE_ENDIAN;
  private Compression compression = Compression.NONE;
  private int shuffle;
  private int flags;
  private Incarnation incarnation = new Incarnation(0, 1);
  private long sequence = 1;
  private long baseTick;
  private long tickHz = 1_000_000_000;
  private boolean monotonicTicks = true;
  private long pid = 1;
  private int route;
  private String routeName = "default";
  private String host = "";
  private String program = "";
  private Parent parent;
  private long[] counters;
  private final List<Calibration> calibrations = new ArrayList<>();
  private final List<Map.Entry<String, String>> context = new ArrayList<>();
  private final Map<Integer, EventType> types = new LinkedHashMap<>();
  private final Map<EventType, Integer> numbers = new HashMap<>();
  private final List<Segment> segments = new ArrayList<>();
  private RecordWriter records = new RecordWriter(order);

  /** Sets the byte order; only before the first event. */
  public BatchWriter byteOrder(ByteOrder value) {
    check(records.length() == 0, "the byte order comes before the first event");
    order = value;
    records = new RecordWriter(order);
    return this;
  }

  /**
   * Sets the compression of the events.
   *
   * @param shuffle 0, or the stride of a byte shuffle before it, plus 1 to store ticks as differences, which pays if
   *     every record has that length
   */
  public BatchWriter compression(Compression value, int shuffle) {
    check(Shuffle.isKnown(shuffle), "a shuffle is 0, or a multiple of 8 up to 128, or one more");
    check(shuffle == 0 || value != Compression.NONE, "only compressed events are shuffled");
    compression = value;
    this.shuffle = shuffle;
    return this;
  }

  /** Sets the flags of {@link BatchHeader}; {@link #parent} sets DERIVED. */
  public BatchWriter flags(int value) {
    flags = value & ~BatchHeader.DERIVED;
    return this;
  }

  public BatchWriter finalBatch(boolean value) {
    flags = value ? flags | BatchHeader.FINAL : flags & ~BatchHeader.FINAL;
    return this;
  }

  public BatchWriter recovered(boolean value) {
    flags = value ? flags | BatchHeader.RECOVERED : flags & ~BatchHeader.RECOVERED;
    return this;
  }

  public BatchWriter incarnation(Incarnation value) {
    incarnation = value;
    return this;
  }

  public BatchWriter sequence(long value) {
    check(value != 0, "sequences start at 1");
    sequence = value;
    return this;
  }

  /** Sets a tick near those of the events, and the tick rate used if there is only one calibration. */
  public BatchWriter ticks(long base, long hz, boolean monotonic) {
    check(hz >= 1 && hz <= TickClock.MAX_TICK_HZ, "tick_hz is within 1 and 10^11");
    baseTick = base;
    tickHz = hz;
    monotonicTicks = monotonic;
    return this;
  }

  public BatchWriter pid(long value) {
    check(value >>> 32 == 0, "a pid has 32 bits");
    pid = value;
    return this;
  }

  public BatchWriter route(int number, String name) {
    check(number >>> 16 == 0, "a route's number has 16 bits");
    route = number;
    routeName = text(name, "the route's name", 0, BatchHeader.MAX_TEXT);
    return this;
  }

  public BatchWriter host(String value) {
    host = text(value, "the host", 0, BatchHeader.MAX_TEXT);
    return this;
  }

  public BatchWriter program(String value) {
    program = text(value, "the program", 0, BatchHeader.MAX_TEXT);
    return this;
  }

  /** Marks this as a batch that a filter made. */
  public BatchWriter parent(Parent value) {
    parent = value;
    return this;
  }

  public BatchWriter counter(Counter counter, long value) {
    if (counters == null) {
      counters = new long[Counter.values().length];
    }
    counters[counter.ordinal()] = value;
    return this;
  }

  /** Sets all counters, at least twelve. */
  public BatchWriter counters(long... values) {
    check(values.length >= Counter.values().length && values.length <= 0xffff, "there are 12 counters or more");
    counters = values.clone();
    return this;
  }

  /** Adds a calibration; the first one replaces the default. */
  public BatchWriter calibration(long tick, long monotonicNs, long realtimeOffsetNs, long errorNs, boolean step) {
    check(errorNs >>> 32 == 0, "error_ns has 32 bits");
    return calibration(new Calibration(tick, monotonicNs, realtimeOffsetNs, errorNs, step));
  }

  BatchWriter calibration(Calibration value) {
    calibrations.add(value);
    return this;
  }

  public BatchWriter context(String key, String value) {
    text(key, "a context key", 1, DescriptorWriter.MAX_NAME);
    text(value, "a context value", 0, BatchHeader.MAX_TEXT);
    context.add(Map.entry(key, value));
    return this;
  }

  /** Describes a type under a given number, even if no event uses it. */
  public BatchWriter type(int number, EventType type) {
    check(number >= 1 && number <= 0xffff, "a type's number is 1 to 65535");
    check(types.putIfAbsent(number, type) == null, "two types have one number");
    numbers.putIfAbsent(type, number);
    return this;
  }

  /** Starts a segment of a thread; by default events belong to thread 1. */
  public BatchWriter thread(long id) {
    segments.add(new Segment(id));
    return this;
  }

  /**
   * Adds an event; a type not described yet gets the next free number.
   *
   * @param values one per field: any {@link Number} for numeric fields, Boolean, String (or byte[] for a string that is
   *     not UTF-8), byte[]
   */
  public BatchWriter event(EventType type, long tick, Object... values) {
    if (!numbers.containsKey(type)) {
      type(nextNumber(), type);
    }
    return event((int) numbers.get(type), tick, values);
  }

  /** Adds an event of the type that {@link #type} described under that number. */
  public BatchWriter event(int number, long tick, Object... values) {
    EventType type = types.get(number);
    check(type != null, "no type has the number " + number);
    if (segments.isEmpty()) {
      thread(1);
    }
    Segment segment = segments.get(segments.size() - 1);
    segment.bytes += records.write(number, type, tick, values);
    segment.events++;
    if (records.length() > BatchHeader.MAX_RAW_BYTES) {
      throw new BatchTooLargeException("a batch holds at most " + BatchHeader.MAX_RAW_BYTES + " bytes of events");
    }
    return this;
  }

  /** Appends unchanged records to the current segment; their types must be described under the numbers in them. */
  BatchWriter copy(byte[] from, int offset, int length, int count) {
    Segment segment = segments.get(segments.size() - 1);
    records.copy(from, offset, length);
    segment.bytes += length;
    segment.events += count;
    return this;
  }

  private int nextNumber() {
    int number = types.size() + 1;
    while (types.containsKey(number)) {
      number++;
    }
    return number;
  }

  /**
   * Returns the batch, including its CRC.
   *
   * @throws BatchTooLargeException if it exceeds {@link BatchReader#MAX_BATCH_BYTES}
   */
  public byte[] toByteArray() {
    byte[] header = header();
    byte[] descriptors = descriptors();
    byte[] events = Compressor.compress(records.toByteArray(), compression, shuffle, order == ByteOrder.BIG_ENDIAN);
    int total = header.length + descriptors.length + events.length + BatchHeader.CRC_LENGTH;
    if (total > BatchReader.MAX_BATCH_BYTES) {
      throw new BatchTooLargeException("a batch of " + total + " bytes is above the limit");
    }
    GrowingBuffer out = new GrowingBuffer(order);
    out.bytes(header).bytes(descriptors).bytes(events);
    out.putInt(12, header.length);
    out.putInt(56, total).putInt(60, descriptors.length).putInt(64, events.length);
    CRC32C crc = new CRC32C();
    crc.update(out.array(), 0, out.length());
    return checked(out.i32((int) crc.getValue()).toByteArray());
  }

  /** Checks that all parts are consistent, such as the order of the calibrations. */
  private static byte[] checked(byte[] batch) {
    try {
      new BatchReader().read(batch, 0, batch.length);
      return batch;
    } catch (RejectedBatchException e) {
      throw new IllegalArgumentException("this would be no legal batch: " + e, e);
    }
  }

  private byte[] header() {
    GrowingBuffer out = new GrowingBuffer(order);
    out.bytes(new byte[] {(byte) 0x89, 'L', 'L', 'B', 1, (byte) (order == ByteOrder.BIG_ENDIAN ? 1 : 0)});
    out.u8(compression.ordinal()).u8(shuffle);
    out.i32(parent == null ? flags : flags | BatchHeader.DERIVED).i32(0);
    out.incarnation(incarnation).i64(sequence).i64(baseTick).i64(tickHz);
    out.i32(0).i32(0).i32(0).i32(records.length());
    out.i32(eventCount()).i32((int) pid).u16(route);
    long[] allCounters = counters();
    List<Calibration> allCalibrations = calibrations();
    out.u16(allCounters.length).u16(count(allCalibrations)).u16(count(segments)).u16(count(context));
    out.u8(monotonicTicks ? 1 : 0).bytes(new byte[5]);
    Arrays.stream(allCounters).forEach(out::i64);
    allCalibrations.forEach(c -> writeCalibration(out, c));
    segments.forEach(segment -> out.i64(segment.thread).i32(segment.bytes).i32(segment.events));
    if (parent != null) {
      out.incarnation(parent.incarnation()).i64(parent.sequence()).u16(parent.route()).u16(0);
      out.i32((int) parent.eventsIn()).i32((int) parent.eventsOut()).i32(0);
    }
    out.text(host).text(program).text(routeName);
    context.forEach(pair -> out.text(pair.getKey()).text(pair.getValue()));
    return out.padTo8().toByteArray();
  }

  private static void writeCalibration(GrowingBuffer out, Calibration calibration) {
    out.i64(calibration.tick()).i64(calibration.monotonicNs()).i64(calibration.realtimeOffsetNs());
    out.i32((int) calibration.errorNs()).i32(calibration.step() ? 1 : 0);
  }

  private byte[] descriptors() {
    GrowingBuffer out = new GrowingBuffer(order);
    types.forEach(
        (number, type) -> {
          byte[] content = DescriptorWriter.content(type, order);
          out.i32(RecordLayout.padded(DescriptorWriter.CONTENT_OFFSET + content.length));
          out.u16(number).u16(0).i64(type.hash()).bytes(content).padTo8();
        });
    return out.toByteArray();
  }

  private int eventCount() {
    return segments.stream().mapToInt(segment -> segment.events).sum();
  }

  private long[] counters() {
    if (counters != null) {
      return counters;
    }
    long[] onlyEmitted = new long[Counter.values().length];
    onlyEmitted[Counter.EMITTED.ordinal()] = eventCount();
    return onlyEmitted;
  }

  private List<Calibration> calibrations() {
    return calibrations.isEmpty() ? List.of(new Calibration(0, 0, 0, 0, false)) : calibrations;
  }

  private static int count(List<?> list) {
    check(list.size() <= 0xffff, "a batch has at most 65535 of each");
    return list.size();
  }

  private static String text(String value, String what, int min, int max) {
    int length = value.getBytes(StandardCharsets.UTF_8).length;
    check(length >= min && length <= max, what + " has " + length + " bytes, not " + min + " to " + max);
    return value;
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalArgumentException(otherwise);
    }
  }
}
