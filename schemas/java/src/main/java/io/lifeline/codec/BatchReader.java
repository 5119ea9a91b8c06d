package io.lifeline.codec;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Reads batches (schemas/FORMAT.md) of any byte order, one at a time. {@link #read} checks everything; afterwards
 * nothing can fail, and iterating allocates only the strings and byte arrays that are requested.
 *
 * <pre>{@code
 * reader.read(message, 0, message.length);
 * while (reader.next()) {
 *   if (reader.type().name().equals("disk.read.end")) {
 *     total += reader.getLong(1);
 *   }
 * }
 * }</pre>
 *
 * <p>Reusable and not thread-safe. The array given to {@link #read} must not change while the batch is in use.
 */
public final class BatchReader {
  /** The largest batch, in bytes. */
  public static final int MAX_BATCH_BYTES = 960_000;

  /** The type number in a record's first word. */
  static final int TYPE_MASK = 0xffff;

  private static final int TYPE_BITS = 16;

  private final Findings findings = new Findings();
  private final BatchHeader header = new BatchHeader();
  private final HeaderParser headerParser = new HeaderParser(header, findings);
  private final DescriptorParser descriptors = new DescriptorParser(findings);
  private final List<EventType> types = Collections.unmodifiableList(descriptors.types());
  private final Decompressor decompressor = new Decompressor();
  private final EventIndex index = new EventIndex(header, findings);
  private boolean holdsBatch;

  /** Null until it is needed, since it takes hundreds of kilobytes. */
  private ColumnarBatch columns;

  private boolean hasColumns;

  /** The array that holds the events. */
  private byte[] raw;

  private boolean bigEndian;
  private int eventCount;
  private int[] positions;
  private EventType[] byNumber;

  /** The current event: its number, start, first word, type, and the places of its fields. */
  private int event;

  private int position;
  private long word;
  private EventType type;
  private RecordLayout layout;
  private int[] offsets;
  private final int[] variableOffsets = new int[255];

  /** The segment of the current event, and the first event after it. */
  private int segment;

  private int segmentEnd;

  /**
   * Checks one message and makes it the current batch, positioned before its first event.
   *
   * @throws RejectedBatchException if the message is not one valid batch; the reader then holds none
   */
  public BatchReader read(byte[] bytes, int offset, int length) throws RejectedBatchException {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    holdsBatch = false;
    hasColumns = false;
    eventCount = 0;
    findings.clear();
    headerParser.readEnvelope(bytes, offset, length);
    headerParser.readHeader();
    int eventsAt = header.headerLength + header.descriptorsLength;
    descriptors.read(bytes, offset, header.headerLength, eventsAt, header.bigEndian);
    findings.rejectIfAny();
    readEvents(bytes, offset, eventsAt);
    holdsBatch = true;
    bigEndian = header.bigEndian;
    eventCount = header.eventCount;
    byNumber = descriptors.byNumber();
    rewind();
    return this;
  }

  private void readEvents(byte[] bytes, int offset, int eventsAt) throws RejectedBatchException {
    if (header.compression == Compression.NONE) {
      raw = bytes;
      index.build(bytes, offset + eventsAt, offset, descriptors.byNumber());
      return;
    }
    if (!decompressor.restore(bytes, offset + eventsAt, header)) {
      findings.reject(Fault.BAD_COMPRESSION, eventsAt, "the events do not decompress to events_raw_length bytes");
    }
    raw = decompressor.events();
    index.build(raw, 0, -eventsAt, descriptors.byNumber());
  }

  /** Returns the current batch's header. */
  public BatchHeader header() {
    if (!holdsBatch) {
      throw new IllegalStateException("no batch was read, or the last one was rejected");
    }
    return header;
  }

  /** Returns whether this is the last batch of its (incarnation, route), so that its counters are final. */
  public boolean isFinal() {
    return header().has(BatchHeader.FINAL);
  }

  /** Returns whether a recovery wrote this batch after the emitter's process died. */
  public boolean isRecovered() {
    return header().has(BatchHeader.RECOVERED);
  }

  /** Returns whether the tick jumped without explanation. */
  public boolean isClockUncertain() {
    return header().has(BatchHeader.CLOCK_UNCERTAIN);
  }

  /** Returns whether a filter made this batch from another one. */
  public boolean isDerived() {
    return header().has(BatchHeader.DERIVED);
  }

  public int flags() {
    return header().flags();
  }

  public Incarnation incarnation() {
    return header().incarnation();
  }

  /** Returns the batch's number within its (incarnation, route), from 1; unsigned. */
  public long sequence() {
    return header().sequence();
  }

  public int route() {
    return header().route();
  }

  public String routeName() {
    return header().routeName();
  }

  public String host() {
    return header().host();
  }

  public String program() {
    return header().program();
  }

  public long pid() {
    return header().pid();
  }

  public int eventCount() {
    return header().eventCount();
  }

  /** Returns the batch's CRC-32C, which distinguishes a duplicate from a conflict. */
  public int crc() {
    return header().crc();
  }

  /** Returns the counter's value when the batch was sealed; unsigned. */
  public long counter(Counter counter) {
    return header().counter(counter.ordinal());
  }

  /** Returns the key/value texts that apply to the whole batch; of a repeated key, the last value. */
  public Map<String, String> context() {
    return header().context();
  }

  /** Returns the types that the batch describes, in order; some may have no events. Valid until the next batch. */
  public List<EventType> types() {
    header();
    return types;
  }

  /** Returns the number that the batch assigns to the type at that index of {@link #types()}. */
  public int typeNumber(int place) {
    return descriptors.number(Objects.checkIndex(place, types().size()));
  }

  /**
   * Returns the events as columns, independently of the current position. All calls during a batch return the same
   * columns, so that each is decoded once.
   */
  public ColumnarBatch columns() {
    if (!hasColumns) {
      columns = columns == null ? new ColumnarBatch() : columns;
      columns.fill(this);
      hasColumns = true;
    }
    return columns;
  }

  /** Moves back before the first event. */
  public void rewind() {
    event = -1;
    type = null;
    segment = -1;
    segmentEnd = 0;
  }

  /** Moves to the next event; returns false if there is none. */
  public boolean next() {
    int following = event + 1;
    if (following >= eventCount) {
      return false;
    }
    if (following == 0) {
      positions = index.positions();
    }
    event = following;
    while (following >= segmentEnd) {
      segmentEnd += header.segmentEvents[++segment];
    }
    position = positions[following];
    word = Bytes.getLong(raw, position, bigEndian);
    type = byNumber[(int) word & TYPE_MASK];
    layout = type.layout();
    offsets = layout.fixedLength != 0 ? layout.offsets : locateFields();
    return true;
  }

  private int[] locateFields() {
    int[] sizes = layout.sizes;
    int at = RecordLayout.WORD;
    for (int i = 0; i < sizes.length; i++) {
      variableOffsets[i] = at;
      at += sizes[i] != 0 ? sizes[i] : 2 + Bytes.getU16(raw, position + at, bigEndian);
    }
    return variableOffsets;
  }

  /** Returns the current event's type. */
  public EventType type() {
    return type;
  }

  /** Returns the number that this batch assigns to the current event's type. */
  public int typeNumber() {
    return (int) word & TYPE_MASK;
  }

  /** Returns the current event's index in its batch, from 0. */
  public int eventIndex() {
    return event;
  }

  /** Returns the current event's full tick; unsigned. */
  public long tick() {
    return fullTick(word, header.baseTick);
  }

  /** Returns the tick nearest to {@code base} whose low 48 bits are the upper ones of {@code word}. */
  static long fullTick(long word, long base) {
    return base + ((word >>> TYPE_BITS) - base << TYPE_BITS >> TYPE_BITS);
  }

  /** Returns when the current event was emitted, in nanoseconds since the Unix epoch (FORMAT section 7). */
  public long timeNs() {
    return header.clock.timeNs(tick());
  }

  /** Returns the kernel's ID of the thread that emitted the current event. */
  public long thread() {
    return header.segmentThread[segment];
  }

  /** Returns the value of a field of type i32, i64, u32, u64 (its bits) or bool (0 or 1). */
  public long getLong(int field) {
    int at = position + offsets[field];
    switch (layout.types[field]) {
      case I32:
        return Bytes.getInt(raw, at, bigEndian);
      case U32:
        return Bytes.getU32(raw, at, bigEndian);
      case I64:
      case U64:
        return Bytes.getLong(raw, at, bigEndian);
      case BOOL:
        return raw[at];
      default:
        throw wrongType(field, "an integer or a bool");
    }
  }

  /** Returns the value of a field of type f32 or f64. */
  public double getDouble(int field) {
    int at = position + offsets[field];
    switch (layout.types[field]) {
      case F32:
        return Float.intBitsToFloat(Bytes.getInt(raw, at, bigEndian));
      case F64:
        return Double.longBitsToDouble(Bytes.getLong(raw, at, bigEndian));
      default:
        throw wrongType(field, "a float");
    }
  }

  /** Returns the bits of a field of type f32 (in the low half) or f64; these distinguish NaNs. */
  public long getFloatBits(int field) {
    int at = position + offsets[field];
    switch (layout.types[field]) {
      case F32:
        return Bytes.getU32(raw, at, bigEndian);
      case F64:
        return Bytes.getLong(raw, at, bigEndian);
      default:
        throw wrongType(field, "a float");
    }
  }

  /** Returns the value of a field of type bool. */
  public boolean getBoolean(int field) {
    if (layout.types[field] != FieldType.BOOL) {
      throw wrongType(field, "a bool");
    }
    return raw[position + offsets[field]] != 0;
  }

  /** Returns the value of a field of type string, with U+FFFD for each byte that is not valid UTF-8. */
  public String getString(int field) {
    if (layout.types[field] != FieldType.STRING) {
      throw wrongType(field, "a string");
    }
    return Utf8.decode(raw, valueOffset(field), valueLength(field));
  }

  /** Returns a copy of the value of a field of type string or bytes. */
  public byte[] getBytes(int field) {
    if (!layout.types[field].isVariable()) {
      throw wrongType(field, "a string or bytes");
    }
    int at = valueOffset(field);
    return Arrays.copyOfRange(raw, at, at + valueLength(field));
  }

  /** Returns where the field's value starts in {@link #raw()}; for strings and bytes, after their length. */
  public int valueOffset(int field) {
    return position + offsets[field] + (layout.sizes[field] == 0 ? 2 : 0);
  }

  /** Returns the length of the field's value in bytes. */
  public int valueLength(int field) {
    int size = layout.sizes[field];
    return size != 0 ? size : Bytes.getU16(raw, position + offsets[field], bigEndian);
  }

  /** Returns the array that holds the events of the current batch; do not change it. */
  public byte[] raw() {
    return raw;
  }

  /** Returns where each event starts in {@link #raw()}. */
  int[] positions() {
    return index.positions();
  }

  EventIndex index() {
    return index;
  }

  private IllegalArgumentException wrongType(int field, String wanted) {
    Field actual = type.fields().get(field);
    return new IllegalArgumentException(type.name() + "." + actual.name() + " is " + actual.type() + ", not " + wanted);
  }
}
