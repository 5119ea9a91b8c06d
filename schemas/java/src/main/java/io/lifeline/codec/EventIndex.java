package io.lifeline.codec;

import java.util.Arrays;

/**
 * Walks through the events of a batch once, checks each, and records where each starts. Many records of one type and of
 * fixed size are recorded as a run, which can be decoded without looking up where each of them starts; so are records
 * of a few such types in a cycle, such as start, end, start, end.
 */
final class EventIndex {
  private static final int MAX_RECORD = 32_768;
  private static final int NO_NUMBER = -1;

  /** Fewer records, or cycles, are recorded one by one. */
  private static final int MIN_RUN = 16;

  /** The most records of a cycle. */
  private static final int MAX_CYCLE = 8;

  /** The most events after a failed search for a cycle until the next one. */
  private static final int MAX_PAUSE = 1024;

  private final BatchHeader header;
  private final Findings findings;
  private int[] positions = new int[1024];
  private int count;

  /**
   * By run: its first event, where that starts, the number of records in a cycle, and their size, or 0 if the starts
   * are in positions.
   */
  private int[] runEvent = new int[64];

  private int[] runAt = new int[64];
  private int[] runCycle = new int[64];
  private int[] runStride = new int[64];
  private int runs;

  /** Of the cycle that was found last: the types of its records, where each starts in it, and behind them its size. */
  private final int[] cycleType = new int[MAX_CYCLE];

  private final int[] cycleStart = new int[MAX_CYCLE + 1];
  private int behindCycles;
  private byte[] raw;
  private EventType[] types;
  private boolean isComplete;

  /** Subtracted from an index of the array to get an offset from the start of the batch. */
  private int base;

  EventIndex(BatchHeader header, Findings findings) {
    this.header = header;
    this.findings = findings;
  }

  /** Returns where each event starts. */
  int[] positions() {
    if (!isComplete) {
      for (int run = 0; run < runs; run++) {
        int at = runAt[run];
        for (int i = 0; runStride[run] > 0 && i < runCycle[run]; i++) {
          at += fillPositions(run, i, at);
        }
      }
      isComplete = true;
    }
    return positions;
  }

  /** Fills in the events at that place of each cycle, the first of which starts at {@code at}; returns their size. */
  private int fillPositions(int run, int place, int at) {
    int[] starts = positions;
    int cycle = runCycle[run];
    int stride = runStride[run];
    int behind = runEvent[run + 1];
    int size = types[typeNumber(at)].layout().fixedLength;
    for (int event = runEvent[run] + place; event < behind; event += cycle) {
      starts[event] = at;
      at += stride;
    }
    return size;
  }

  /** Returns the number of runs. They follow each other, and none crosses the end of a segment. */
  int runs() {
    return runs;
  }

  /** Returns the index of the run's first event; of the run after the last, the number of events. */
  int firstEvent(int run) {
    return runEvent[run];
  }

  /** Returns where the run's first event starts. */
  int at(int run) {
    return runAt[run];
  }

  /**
   * Returns the distance of records of the same type in the run, which consists of whole cycles; or 0 if there is none,
   * see {@link #listed}.
   */
  int stride(int run) {
    return runStride[run];
  }

  /** Returns the number of records in a cycle of the run, each of another type; 1 if they all have one type. */
  int cycle(int run) {
    return runCycle[run];
  }

  /** Returns where the events start that are in runs of stride 0. */
  int[] listed() {
    return positions;
  }

  /**
   * Checks the events that start at {@code at}.
   *
   * @param shift subtracted from an index of {@code bytes} to report it as an offset in the batch
   */
  void build(byte[] bytes, int at, int shift, EventType[] byNumber) throws RejectedBatchException {
    raw = bytes;
    types = byNumber;
    base = shift;
    count = 0;
    runs = 0;
    isComplete = false;
    if (positions.length < header.rawLength / RecordLayout.WORD) {
      positions = new int[Math.min(2 * header.rawLength, BatchHeader.MAX_RAW_BYTES) / RecordLayout.WORD];
    }
    for (int segment = 0; segment < header.segmentCount; segment++) {
      int before = count;
      int end = at + header.segmentBytes[segment];
      walk(bytes, at, end, byNumber);
      if (count - before != header.segmentEvents[segment]) {
        findings.reject(
            Fault.BAD_RECORD_COUNT,
            at - base,
            "a segment holds " + (count - before) + " events, not " + header.segmentEvents[segment]);
      }
      at = end;
    }
    runEvent[runs] = count;
    findings.rejectIfAny();
  }

  private void walk(byte[] bytes, int at, int end, EventType[] byNumber) throws RejectedBatchException {
    boolean bigEndian = header.bigEndian;
    int[] starts = positions;
    int n = count;
    // Most events have the type of the previous one. This guess lets the processor continue with the next record while
    // the loads that determine the type are still in progress.
    int guess = NO_NUMBER;
    int fixedLength = 0;
    int stride = 0;
    boolean isListing = false;
    RecordLayout layout = null;
    int nextSearch = n;
    int pause = 1;
    while (at < end) {
      int number = (int) Bytes.getLong(bytes, at, bigEndian) & 0xffff;
      if (number != guess) {
        if (byNumber[number] == null) {
          findings.reject(Fault.UNKNOWN_TYPE, at - base, "an event's type number " + number + " has no descriptor");
          return;
        }
        guess = number;
        layout = byNumber[number].layout();
        fixedLength = layout.fixedLength;
        stride = strideOf(layout);
      }
      int following = stride > 0 ? sameType(bytes, at, end, stride, number) : 0;
      if (following >= MIN_RUN) {
        addRun(n, at, 1, stride);
        isListing = false;
        n += following;
        at += following * stride;
        continue;
      }
      if (following == 1 && n >= nextSearch) {
        int taken = addCycles(n, at, end);
        if (taken > 0) {
          isListing = false;
          n += taken;
          at = behindCycles;
          pause = 1;
          continue;
        }
        nextSearch = n + pause;
        pause = Math.min(2 * pause, MAX_PAUSE);
      }
      if (!isListing) {
        addRun(n, at, 0, 0);
        isListing = true;
      }
      for (; following > 1; following--) {
        starts[n++] = at;
        at += stride;
      }
      int length = fixedLength != 0 ? fixedLength : variableLength(bytes, at, end, layout);
      if (length > end - at || length > MAX_RECORD) {
        findings.reject(Fault.BAD_RECORD, at - base, "an event runs over its segment's end or above 32768 bytes");
      }
      if (layout.hasBool) {
        checkBools(bytes, at, layout);
      }
      starts[n++] = at;
      at += length;
    }
    count = n;
  }

  /** Returns how many records of that type follow each other. */
  private int sameType(byte[] bytes, int at, int end, int stride, int number) {
    int found = sameType(bytes, at, Math.min(end, at + MIN_RUN * stride), stride, number, 1);
    if (found == MIN_RUN) {
      found += sameType(bytes, at + found * stride, end, stride, number, MIN_RUN);
      found += sameType(bytes, at + found * stride, end, stride, number, 1);
    }
    return found;
  }

  /** The same, as far as whole steps of so many records go. */
  private int sameType(byte[] bytes, int at, int end, int stride, int number, int step) {
    boolean bigEndian = header.bigEndian;
    int found = 0;
    for (; end - at >= step * stride; found += step) {
      long difference = 0;
      for (int i = 0; i < step; i++, at += stride) {
        difference |= Bytes.getLong(bytes, at, bigEndian) ^ number;
      }
      if ((difference & BatchReader.TYPE_MASK) != 0) {
        break;
      }
    }
    return found;
  }

  /** Returns the size of the type's records if they can be in runs; otherwise 0. */
  private static int strideOf(RecordLayout layout) {
    return layout.hasBool || layout.fixedLength > MAX_RECORD ? 0 : layout.fixedLength;
  }

  /**
   * Adds a run of cycles that starts there, and the begun cycle behind it as runs of one record: if those were listed,
   * their types would be decoded without runs. Returns the number of records, 0 if there are too few cycles, and sets
   * {@link #behindCycles}.
   */
  private int addCycles(int event, int at, int end) {
    int cycle = findCycle(at, end);
    int cycles = cycle > 0 ? countCycles(at, end, cycle) : 0;
    if (cycles < MIN_RUN) {
      return 0;
    }
    addRun(event, at, cycle, cycleStart[cycle]);
    int added = cycles * cycle;
    int next = at + cycles * cycleStart[cycle];
    for (int i = 0; i < cycle; i++) {
      int size = cycleStart[i + 1] - cycleStart[i];
      if (end - next < size || typeNumber(next) != cycleType[i]) {
        break;
      }
      addRun(event + added++, next, 1, size);
      next += size;
    }
    behindCycles = next;
    return added;
  }

  private int typeNumber(int at) {
    return (int) Bytes.getLong(raw, at, header.bigEndian) & BatchReader.TYPE_MASK;
  }

  /**
   * Returns how many records there are until one has the type of the first; 0 if another type comes twice before, or
   * one cannot be in runs. Sets the types and starts of the records.
   */
  private int findCycle(int at, int end) {
    int start = 0;
    for (int i = 0; i <= MAX_CYCLE && at + start + RecordLayout.WORD <= end; i++) {
      int number = typeNumber(at + start);
      cycleStart[i] = start;
      if (i > 0 && number == cycleType[0]) {
        return i;
      }
      int size = types[number] == null || i == MAX_CYCLE ? 0 : strideOf(types[number].layout());
      if (size == 0 || contains(cycleType, i, number)) {
        return 0;
      }
      cycleType[i] = number;
      start += size;
    }
    return 0;
  }

  private static boolean contains(int[] numbers, int count, int number) {
    for (int i = 0; i < count; i++) {
      if (numbers[i] == number) {
        return true;
      }
    }
    return false;
  }

  /** Returns how often the records that {@link #findCycle} found follow each other. */
  private int countCycles(int at, int end, int cycle) {
    boolean bigEndian = header.bigEndian;
    int stride = cycleStart[cycle];
    int found = 0;
    for (; end - at >= stride; at += stride) {
      long difference = 0;
      for (int i = 0; i < cycle; i++) {
        difference |= Bytes.getLong(raw, at + cycleStart[i], bigEndian) ^ cycleType[i];
      }
      if ((difference & BatchReader.TYPE_MASK) != 0) {
        break;
      }
      found++;
    }
    return found;
  }

  private void addRun(int event, int at, int cycle, int stride) {
    if (runs + 1 == runEvent.length) {
      runEvent = Arrays.copyOf(runEvent, 2 * runs + 2);
      runAt = Arrays.copyOf(runAt, 2 * runs + 2);
      runCycle = Arrays.copyOf(runCycle, 2 * runs + 2);
      runStride = Arrays.copyOf(runStride, 2 * runs + 2);
    }
    runEvent[runs] = event;
    runAt[runs] = at;
    runCycle[runs] = cycle;
    runStride[runs++] = stride;
  }

  /** Returns the size of the record with padding, or more than there is left if its lengths exceed the end. */
  private int variableLength(byte[] bytes, int at, int end, RecordLayout layout) {
    int position = at + RecordLayout.WORD;
    for (int size : layout.sizes) {
      if (size == 0) {
        if (position + 2 > end) {
          return Integer.MAX_VALUE;
        }
        position += 2 + Bytes.getU16(bytes, position, header.bigEndian);
      } else {
        position += size;
      }
    }
    return RecordLayout.padded(position - at);
  }

  private void checkBools(byte[] bytes, int at, RecordLayout layout) throws RejectedBatchException {
    int position = at + RecordLayout.WORD;
    for (int i = 0; i < layout.sizes.length; i++) {
      if (layout.types[i] == FieldType.BOOL && (bytes[position] & ~1) != 0) {
        findings.reject(Fault.BAD_RECORD, position - base, "a bool is neither 0 nor 1");
      }
      position += layout.sizes[i] != 0 ? layout.sizes[i] : 2 + Bytes.getU16(bytes, position, header.bigEndian);
    }
  }
}
