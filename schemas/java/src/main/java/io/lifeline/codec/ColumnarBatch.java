package io.lifeline.codec;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The events of one batch as columns, grouped by event type: the fastest way to read all of them. A column is decoded
 * on first access, so unused columns cost almost nothing. Reusable and not thread-safe; {@link #fill} overwrites what
 * the previous call returned, and the reader must keep its batch while columns are read.
 */
public final class ColumnarBatch {
  /**
   * Maximum size of the buffers that are kept between batches, in bytes. A hostile topic could make thousands of types
   * each grow to a whole batch in turn; beyond this limit all buffers start anew. A process may have tens of readers.
   */
  static final int MAX_HELD_BYTES = 16 << 20;

  private static final int TYPE_MASK = 0xffff;

  /** The current batch's groups by type number. */
  private final Columns[] byNumber = new Columns[TYPE_MASK + 1];

  /** Buffers of earlier batches; the first {@link #used} are those of the current one. */
  private final List<Columns> pool = new ArrayList<>();

  private final List<Columns> groups = new ArrayList<>();
  private int used;

  /** Size of all buffers, as of the last batch before the current one. */
  private long heldBytes;

  /** Groups the events of the reader's batch by type, independently of the reader's current position. */
  public ColumnarBatch fill(BatchReader reader) {
    BatchHeader header = reader.header();
    prepare(reader);
    group(header, reader.raw(), reader.index());
    groups.clear();
    for (int i = 0; i < used; i++) {
      Columns columns = pool.get(i);
      if (columns.size > 0) {
        columns.hold(header, reader.raw());
        groups.add(columns);
      }
    }
    return this;
  }

  /** Returns one group per type that has events in this batch, in the order of the batch's descriptors. */
  public List<Columns> groups() {
    return Collections.unmodifiableList(groups);
  }

  /** Returns the size of all buffers in bytes, as {@link #fill} left them. */
  long heldBytes() {
    return heldBytes;
  }

  private void prepare(BatchReader reader) {
    for (int i = 0; i < used; i++) { // the last batch's, some of whose columns were decoded
      heldBytes += pool.get(i).growth();
    }
    if (heldBytes > MAX_HELD_BYTES) {
      pool.clear();
      Arrays.fill(byNumber, null);
      heldBytes = 0;
    }
    List<EventType> types = reader.types();
    used = types.size();
    for (int i = 0; i < used; i++) {
      if (i == pool.size()) {
        pool.add(new Columns());
      }
      pool.get(i).start(types.get(i));
      byNumber[reader.typeNumber(i)] = pool.get(i);
    }
  }

  /** Groups the events by type, preserving their order. */
  private void group(BatchHeader header, byte[] raw, EventIndex index) {
    boolean bigEndian = header.bigEndian;
    int[] listed = index.listed();
    int run = 0;
    int end = 0;
    for (int segment = 0; segment < header.segmentCount; segment++) {
      int firstRun = run;
      end += header.segmentEvents[segment];
      for (; run < index.runs() && index.firstEvent(run) < end; run++) {
        int event = index.firstEvent(run);
        int behind = index.firstEvent(run + 1);
        if (index.stride(run) > 0) {
          addRun(raw, index, run, bigEndian);
          continue;
        }
        for (; event < behind; event++) {
          columnsAt(raw, listed[event], bigEndian).add(listed[event], event);
        }
      }
      endSegment(header.segmentThread[segment], raw, index, firstRun, run, bigEndian);
    }
  }

  private void addRun(byte[] raw, EventIndex index, int run, boolean bigEndian) {
    int at = index.at(run);
    int event = index.firstEvent(run);
    int cycle = index.cycle(run);
    int cycles = (index.firstEvent(run + 1) - event) / cycle;
    for (int i = 0; i < cycle; i++) {
      Columns columns = columnsAt(raw, at, bigEndian);
      columns.addRun(at, index.stride(run), event + i, cycle, cycles);
      at += columns.type.layout().fixedLength;
    }
  }

  private Columns columnsAt(byte[] raw, int at, boolean bigEndian) {
    return byNumber[(int) Bytes.getLong(raw, at, bigEndian) & TYPE_MASK];
  }

  /** Takes time proportional to the segment's events, since a batch may have thousands of types and segments. */
  private void endSegment(long thread, byte[] raw, EventIndex index, int firstRun, int endRun, boolean bigEndian) {
    if (used <= index.firstEvent(endRun) - index.firstEvent(firstRun)) {
      for (int i = 0; i < used; i++) {
        pool.get(i).endSegment(thread);
      }
      return;
    }
    for (int run = firstRun; run < endRun; run++) {
      if (index.stride(run) > 0) {
        int at = index.at(run);
        for (int i = 0; i < index.cycle(run); i++) {
          Columns columns = columnsAt(raw, at, bigEndian);
          columns.endSegment(thread);
          at += columns.type.layout().fixedLength;
        }
        continue;
      }
      for (int event = index.firstEvent(run); event < index.firstEvent(run + 1); event++) {
        columnsAt(raw, index.listed()[event], bigEndian).endSegment(thread);
      }
    }
  }

  /** The events of one type. Arrays are valid below {@link #size()} and until the next {@link #fill}. */
  public static final class Columns {
    private static final int INITIAL = 64;
    private static final int[] NO_INTS = {};
    private static final long[] NO_LONGS = {};

    /** Roughly, with what it needs for each field: types without events take no more. */
    private static final int OWN_BYTES = 256;

    private static final int FIELD_BYTES = 48;

    private EventType type;
    private BatchHeader header;
    private byte[] raw;
    private int size;

    /** Number of events that arrays have room for. */
    private int room = INITIAL;

    /** While all events come in runs, these stand for positions and eventIndex; runFrom: a run's first event here. */
    private int[] runFrom = NO_INTS;

    private int[] runAt = NO_INTS;
    private int[] runStride = NO_INTS;
    private int[] runEvent = NO_INTS;
    private int[] runStep = NO_INTS;
    private int runs;

    /** Whether some events are in no run. Then positions has all of them. */
    private boolean hasSingles;

    /** Whether positions and eventIndex are filled. */
    private boolean isListed;

    /** Where a thread's events end, and the thread; the events of the next one follow. */
    private int[] threadEnd = NO_INTS;

    private long[] threadId = NO_LONGS;
    private int threads;

    private int[] positions = NO_INTS;
    private int[] eventIndex = NO_INTS;
    private long[] thread = NO_LONGS;
    private boolean hasThreads;
    private long[] timeNs = NO_LONGS;
    private boolean hasTimes;

    /** The size last reported by {@link #growth}. */
    private long toldBytes;

    /** By field: whether its column is decoded for the current batch. */
    private boolean[] isDecoded;

    /**
     * By field: the last variable-length field before it, or -1; and its distance from the end of that field, or from
     * the start of the record.
     */
    private int[] variableBefore = new int[0];

    private int[] distance = new int[0];

    /** By field; null if the field's values have another type. */
    private long[][] longs;

    private double[][] doubles;
    private int[][] offsets;
    private int[][] lengths;
    private int[][] ends;

    private Columns() {}

    /** Returns by how many bytes the buffers grew since the last call. */
    private long growth() {
      long told = toldBytes;
      toldBytes = OWN_BYTES + 4L * (positions.length + eventIndex.length + 5 * runFrom.length + threadEnd.length)
          + 8L * (thread.length + timeNs.length + threadId.length) + (long) FIELD_BYTES * longs.length;
      for (int field = 0; field < longs.length; field++) {
        toldBytes += longs[field] != null ? 8L * longs[field].length : 0;
        toldBytes += doubles[field] != null ? 8L * doubles[field].length : 0;
        toldBytes += offsets[field] != null ? 12L * offsets[field].length : 0;
      }
      return toldBytes - told;
    }

    private void forgetColumns(int fields) {
      isDecoded = new boolean[fields];
      longs = new long[fields][];
      doubles = new double[fields][];
      offsets = new int[fields][];
      lengths = new int[fields][];
      ends = new int[fields][];
    }

    public EventType type() {
      return type;
    }

    /** Returns the number of events. */
    public int size() {
      return size;
    }

    /** Returns the times, in nanoseconds since the Unix epoch. */
    public long[] timeNs() {
      if (!hasTimes) {
        decodeTimes();
        hasTimes = true;
      }
      return timeNs;
    }

    /** Returns the kernel IDs of the emitting threads. */
    public long[] thread() {
      if (!hasThreads) {
        fillThreads();
        hasThreads = true;
      }
      return thread;
    }

    /** Returns each event's index in its batch, from 0. */
    public int[] eventIndex() {
      list();
      return eventIndex;
    }

    /** Returns the values of a field of type i32, i64, u32, u64 or bool. */
    public long[] longs(int field) {
      FieldType fieldType = typeOf(field);
      require(!fieldType.isFloating() && !fieldType.isVariable(), field, "an integer or a bool");
      decode(field);
      return longs[field];
    }

    /** Returns the values of a field of type f32 or f64. */
    public double[] doubles(int field) {
      require(typeOf(field).isFloating(), field, "a float");
      decode(field);
      return doubles[field];
    }

    /** Returns where the values of a field of type string or bytes start in {@link #raw()}. */
    public int[] offsets(int field) {
      require(typeOf(field).isVariable(), field, "a string or bytes");
      decode(field);
      return offsets[field];
    }

    /** Returns the lengths in bytes of the values of a field of type string or bytes. */
    public int[] lengths(int field) {
      require(typeOf(field).isVariable(), field, "a string or bytes");
      decode(field);
      return lengths[field];
    }

    /** Returns the bytes that {@link #offsets} refer to. Strings in it may not be valid UTF-8: see {@link Utf8}. */
    public byte[] raw() {
      return raw;
    }

    private FieldType typeOf(int field) {
      return type.layout().types[field];
    }

    private void require(boolean fits, int field, String wanted) {
      if (!fits) {
        Field actual = type.fields().get(field);
        throw new IllegalArgumentException(
            type.name() + "." + actual.name() + " is " + actual.type() + ", not " + wanted);
      }
    }

    private void start(EventType newType) {
      size = 0;
      runs = 0;
      threads = 0;
      hasThreads = false;
      hasSingles = false;
      isListed = false;
      hasTimes = false;
      if (type == newType) {
        Arrays.fill(isDecoded, false);
        return;
      }
      type = newType;
      forgetColumns(newType.fields().size());
      locate(newType.layout().sizes);
    }

    /**
     * Locates the fields: up to the first string or bytes at a fixed offset in each record, after it relative to such a
     * field.
     */
    private void locate(int[] sizes) {
      variableBefore = new int[sizes.length];
      distance = new int[sizes.length];
      int variable = -1;
      int at = RecordLayout.WORD;
      for (int field = 0; field < sizes.length; field++) {
        variableBefore[field] = variable;
        distance[field] = at;
        at += sizes[field];
        if (sizes[field] == 0) {
          variable = field;
          at = 0;
        }
      }
    }

    private void add(int position, int event) {
      int n = size;
      list();
      hasSingles = true;
      if (n == positions.length) {
        room = Math.max(room, 2 * n); // at first there is room for none
        positions = Arrays.copyOf(positions, room);
        eventIndex = Arrays.copyOf(eventIndex, room);
      }
      positions[n] = position;
      eventIndex[n] = event;
      size = n + 1;
    }

    /**
     * Adds {@code count} events.
     *
     * @param stride distance between the starts of two of them
     * @param step distance between their indexes
     */
    private void addRun(int at, int stride, int event, int step, int count) {
      while (room < size + count) {
        room *= 2;
      }
      if (runs == runFrom.length) {
        int more = Math.max(1, 2 * runs);
        runFrom = Arrays.copyOf(runFrom, more);
        runAt = Arrays.copyOf(runAt, more);
        runStride = Arrays.copyOf(runStride, more);
        runEvent = Arrays.copyOf(runEvent, more);
        runStep = Arrays.copyOf(runStep, more);
      }
      runFrom[runs] = size;
      runAt[runs] = at;
      runStride[runs] = stride;
      runEvent[runs] = event;
      runStep[runs++] = step;
      size += count;
      if (isListed) {
        reserveLists();
        list(runs - 1);
      }
    }

    /** Fills the lists of positions and event indexes, if there are only runs. */
    private void list() {
      if (isListed) {
        return;
      }
      reserveLists();
      for (int run = 0; run < runs; run++) {
        list(run);
      }
      isListed = true;
    }

    private void reserveLists() {
      if (size > positions.length) {
        positions = Arrays.copyOf(positions, room);
        eventIndex = Arrays.copyOf(eventIndex, room);
      }
    }

    private void list(int run) {
      int stride = runStride[run];
      int step = runStep[run];
      int at = runAt[run];
      int event = runEvent[run];
      for (int i = runFrom[run]; i < endOf(run); i++, at += stride, event += step) {
        positions[i] = at;
        eventIndex[i] = event;
      }
    }

    private int endOf(int run) {
      return run + 1 < runs ? runFrom[run + 1] : size;
    }

    private void endSegment(long id) {
      if (size == (threads == 0 ? 0 : threadEnd[threads - 1])) {
        return;
      }
      if (threads == threadEnd.length) {
        threadEnd = Arrays.copyOf(threadEnd, Math.max(1, 2 * threads));
        threadId = Arrays.copyOf(threadId, threadEnd.length);
      }
      threadEnd[threads] = size;
      threadId[threads++] = id;
    }

    private void fillThreads() {
      thread = atLeast(thread);
      int from = 0;
      for (int i = 0; i < threads; i++) {
        Arrays.fill(thread, from, threadEnd[i], threadId[i]);
        from = threadEnd[i];
      }
    }

    private void hold(BatchHeader batchHeader, byte[] bytes) {
      header = batchHeader;
      raw = bytes;
    }

    private void decodeTimes() {
      if (size > timeNs.length) {
        timeNs = new long[room];
      }
      TickClock clock = header.clock;
      long base = header.baseTick;
      boolean bigEndian = header.bigEndian;
      if (!hasSingles) {
        for (int run = 0; run < runs; run++) {
          clock.timesNs(timeNs, runFrom[run], endOf(run), raw, runAt[run], runStride[run], bigEndian, base);
        }
        return;
      }
      for (int i = 0; i < size; i++) {
        long word = Bytes.getLong(raw, positions[i], bigEndian);
        timeNs[i] = clock.timeNs(BatchReader.fullTick(word, base));
      }
    }

    private void decode(int field) {
      if (isDecoded[field]) {
        return;
      }
      if (hasSingles) {
        decodeListed(field);
      } else {
        decodeRuns(field);
      }
      isDecoded[field] = true;
    }

    private void decodeRuns(int field) {
      FieldType fieldType = typeOf(field);
      if (fieldType.isFloating()) {
        doubles[field] = atLeast(doubles[field]);
      } else {
        longs[field] = atLeast(longs[field]);
      }
      for (int run = 0; run < runs; run++) {
        int at = runAt[run] + distance[field];
        int stride = runStride[run];
        if (fieldType.isFloating()) {
          FieldColumn.decodeDoubles(
              doubles[field], runFrom[run], endOf(run), fieldType, raw, at, stride, header.bigEndian);
        } else {
          FieldColumn.decodeLongs(longs[field], runFrom[run], endOf(run), fieldType, raw, at, stride, header.bigEndian);
        }
      }
    }

    private void decodeListed(int field) {
      int[] from = positions;
      if (variableBefore[field] >= 0) {
        decode(variableBefore[field]);
        from = ends[variableBefore[field]];
      }
      FieldType fieldType = typeOf(field);
      if (fieldType.isVariable()) {
        decodeVariable(field, from);
      } else if (fieldType.isFloating()) {
        doubles[field] = atLeast(doubles[field]);
        FieldColumn.decodeDoubles(doubles[field], size, fieldType, raw, from, distance[field], header.bigEndian);
      } else {
        longs[field] = atLeast(longs[field]);
        FieldColumn.decodeLongs(longs[field], size, fieldType, raw, from, distance[field], header.bigEndian);
      }
    }

    private void decodeVariable(int field, int[] from) {
      offsets[field] = atLeast(offsets[field]);
      lengths[field] = atLeast(lengths[field]);
      ends[field] = atLeast(ends[field]);
      int[] starts = offsets[field];
      int[] sizes = lengths[field];
      int[] behind = ends[field];
      int offset = distance[field];
      boolean bigEndian = header.bigEndian;
      for (int i = 0; i < size; i++) {
        int at = from[i] + offset;
        int length = Bytes.getU16(raw, at, bigEndian);
        starts[i] = at + 2;
        sizes[i] = length;
        behind[i] = at + 2 + length;
      }
    }

    private long[] atLeast(long[] column) {
      return column != null && column.length >= size ? column : new long[room];
    }

    private double[] atLeast(double[] column) {
      return column != null && column.length >= size ? column : new double[room];
    }

    private int[] atLeast(int[] column) {
      return column != null && column.length >= size ? column : new int[room];
    }
  }
}
