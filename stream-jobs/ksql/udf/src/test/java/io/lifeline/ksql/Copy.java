package io.lifeline.ksql;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import java.util.ArrayList;
import java.util.List;

/** Test input for ksqlDB: two programs that copy for twenty seconds, and a fleet of three generators. */
final class Copy {

  static final int BLOCKS = 200;
  static final int SLOW_MS = 250;
  static final int GENERATORS = 3;
  static final int MESSAGES = 20;

  /** Slow reads of the second program; the first three are within one window of ten seconds. */
  static final List<Integer> SLOW_BLOCKS = List.of(10, 20, 30, 150);

  private static final long MS = 1_000_000;
  private static final long BLOCK_NS = 100 * MS;

  private final long startNs;

  /** @param startNs time of the first event, at the start of a minute */
  Copy(long startNs) {
    this.startNs = startNs;
  }

  /** Returns one batch of each of the two programs, and one of the generators. */
  List<BatchWriter> batches() {
    List<BatchWriter> batches = new ArrayList<>();
    batches.add(copy(1));
    batches.add(copy(2));
    batches.add(generators(3));
    return batches;
  }

  private BatchWriter copy(int emitter) {
    EventType readStart = Catalogue.type("disk.read.start");
    EventType readEnd = Catalogue.type("disk.read.end");
    EventType sendStart = Catalogue.type("net.send.start");
    EventType sendEnd = Catalogue.type("net.send.end");
    BatchWriter batch =
        begin(emitter).type(1, readStart).type(2, readEnd).type(3, sendStart).type(4, sendEnd).thread(7);
    for (int block = 0; block < BLOCKS; block++) {
      long start = startNs + block * BLOCK_NS;
      int ms = emitter == 2 && SLOW_BLOCKS.contains(block) ? SLOW_MS + block : 2;
      long read = start + ms * MS;
      batch
          .event(readStart, start, (long) block, block * 65_536L)
          .event(readEnd, read, (long) block, 65_536L)
          .event(sendStart, read, (long) block)
          .event(sendEnd, read + 5 * MS, (long) block, 65_536L);
    }
    return batch;
  }

  private BatchWriter generators(int emitter) {
    EventType measurement = Catalogue.type("generator.measurement");
    BatchWriter batch = begin(emitter).program("fleet").type(1, measurement).thread(7);
    for (int message = 0; message < MESSAGES; message++) {
      for (int generator = 0; generator < GENERATORS; generator++) {
        long rtt = MS + message * 1000 + generator;
        batch.event(
            measurement, startNs + message * 1000 * MS, (long) generator, (long) message, rtt, 100_000L, 800_000L,
            rtt - 900_000, 512L);
      }
    }
    return batch;
  }

  private BatchWriter begin(int emitter) {
    return Samples.batch(emitter, 1).ticks(startNs, 1_000_000_000, true);
  }
}
