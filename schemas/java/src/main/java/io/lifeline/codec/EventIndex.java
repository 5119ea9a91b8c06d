package io.lifeline.codec;

/** Walks through the events of a batch once, checks each, and records where each starts. */
final class EventIndex {
  private static final int MAX_RECORD = 32_768;
  private static final int NO_NUMBER = -1;

  private final BatchHeader header;
  private final Findings findings;
  private int[] positions = new int[1024];
  private int count;

  /** Subtracted from an index of the array to get an offset from the start of the batch. */
  private int base;

  EventIndex(BatchHeader header, Findings findings) {
    this.header = header;
    this.findings = findings;
  }

  int[] positions() {
    return positions;
  }

  /**
   * Checks the events that start at {@code at}.
   *
   * @param shift subtracted from an index of {@code bytes} to report it as an offset in the batch
   */
  void build(byte[] bytes, int at, int shift, EventType[] types) throws RejectedBatchException {
    base = shift;
    count = 0;
    if (positions.length < header.rawLength / RecordLayout.WORD) {
      positions = new int[Math.min(2 * header.rawLength, BatchHeader.MAX_RAW_BYTES) / RecordLayout.WORD];
    }
    for (int segment = 0; segment < header.segmentCount; segment++) {
      int before = count;
      int end = at + header.segmentBytes[segment];
      walk(bytes, at, end, types);
      if (count - before != header.segmentEvents[segment]) {
        findings.reject(
            Fault.BAD_RECORD_COUNT,
            at - base,
            "a segment holds " + (count - before) + " events, not " + header.segmentEvents[segment]);
      }
      at = end;
    }
    findings.rejectIfAny();
  }

  private void walk(byte[] bytes, int at, int end, EventType[] types) throws RejectedBatchException {
    boolean bigEndian = header.bigEndian;
    int[] starts = positions;
    int n = count;
    // Most events have the type of the previous one. This guess lets the processor continue with the next record while
    // the loads that determine the type are still in progress.
    int guess = NO_NUMBER;
    int fixedLength = 0;
    RecordLayout layout = null;
    while (at < end) {
      int number = (int) Bytes.getLong(bytes, at, bigEndian) & 0xffff;
      if (number != guess) {
        if (types[number] == null) {
          findings.reject(Fault.UNKNOWN_TYPE, at - base, "an event's type number " + number + " has no descriptor");
          return;
        }
        guess = number;
        layout = types[number].layout();
        fixedLength = layout.fixedLength;
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
