package io.lifeline.codec;

import java.util.BitSet;

/**
 * Copies some of a batch's events into a new batch (FORMAT section 3.5). Records are copied without re-encoding, so
 * byte order, type numbers and calibrations are the parent's.
 */
public final class BatchSubset {
  private BatchSubset() {}

  /**
   * Returns a writer that holds the chosen events in order, each under its thread, with the descriptors that they use,
   * and the header fields that describe the emitter and its clock. The caller sets identity, counters and {@link
   * BatchWriter#parent}.
   *
   * @param parent must keep its current batch until this returns
   * @param kept indexes of events in the parent, see {@link BatchReader#eventIndex}
   */
  public static BatchWriter of(BatchReader parent, BitSet kept) {
    BatchHeader header = parent.header();
    BatchWriter writer =
        new BatchWriter()
            .byteOrder(header.byteOrder())
            .compression(header.compression(), header.shuffle())
            .flags(header.flags())
            .ticks(header.baseTick(), header.tickHz(), header.monotonicTicks())
            .pid(header.pid())
            .host(header.host())
            .program(header.program());
    header.calibrations().forEach(writer::calibration);
    header.context.forEach(pair -> writer.context(pair.getKey(), pair.getValue()));
    describe(parent, kept, writer);
    copy(parent, kept, writer);
    return writer;
  }

  private static void describe(BatchReader parent, BitSet kept, BatchWriter writer) {
    BitSet used = new BitSet();
    boolean bigEndian = parent.header().bigEndian;
    int[] positions = parent.positions();
    for (int event = kept.nextSetBit(0); event >= 0; event = kept.nextSetBit(event + 1)) {
      used.set((int) Bytes.getLong(parent.raw(), positions[event], bigEndian) & BatchReader.TYPE_MASK);
    }
    for (int place = 0; place < parent.types().size(); place++) {
      if (used.get(parent.typeNumber(place))) {
        writer.type(parent.typeNumber(place), parent.types().get(place));
      }
    }
  }

  private static void copy(BatchReader parent, BitSet kept, BatchWriter writer) {
    BatchHeader header = parent.header();
    int[] positions = parent.positions();
    int start = 0;
    for (int segment = 0; segment < header.segmentCount; segment++) {
      int end = start + header.segmentEvents[segment];
      int event = kept.nextSetBit(start);
      if (event >= 0 && event < end) {
        writer.thread(header.segmentThread[segment]);
      }
      while (event >= 0 && event < end) {
        int behind = Math.min(kept.nextClearBit(event), end);
        int to = behind < header.eventCount ? positions[behind] : positions[0] + header.rawLength;
        writer.copy(parent.raw(), positions[event], to - positions[event], behind - event);
        event = kept.nextSetBit(behind);
      }
      start = end;
    }
  }
}
