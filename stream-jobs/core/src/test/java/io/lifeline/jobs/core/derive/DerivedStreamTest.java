package io.lifeline.jobs.core.derive;

import static io.lifeline.jobs.core.TestBatches.READ;
import static io.lifeline.jobs.core.TestBatches.at;
import static io.lifeline.jobs.core.TestBatches.batch;
import static io.lifeline.jobs.core.TestBatches.read;
import static io.lifeline.jobs.core.TestBatches.tick;
import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchTooLargeException;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Recorder;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DerivedStreamTest {

  private static final int EVENTS = 10_000;

  private final Recorder output = new Recorder();

  /** As of a parent whose header fills it; to write that anew for each event would take minutes. */
  @Test
  void eventsThatFitNoBatchAreGivenUpSoonAndCounted() throws Exception {
    DerivedStream stream =
        new DerivedStream("large", DerivedStream.Rest.LEFT_OUT, new MemoryState(), 60_000, new Metrics());
    AtomicInteger tries = new AtomicInteger();
    DerivedStream.Events tooLarge =
        (from, to) -> {
          tries.incrementAndGet();
          throw new BatchTooLargeException("a header without end");
        };
    stream.derive(read(reads(1, EVENTS)), at(1, 0), EVENTS, tooLarge, output);
    assertThat(tries.get()).isBetween(2, 200);
    assertThat(output.messages()).isEmpty();
    stream.derive(read(reads(2, 1)), at(2, 1), 1, (from, to) -> reads(2, 1), output);
    byte[] bytes = output.messages().get(0).bytes();
    BatchReader derived = new BatchReader().read(bytes, 0, bytes.length);
    assertThat(derived.sequence()).isEqualTo(1);
    assertThat(derived.counter(Counter.EMITTED)).isEqualTo(EVENTS + 1);
    assertThat(derived.counter(Counter.DROPPED_OVERSIZE)).isEqualTo(EVENTS);
  }

  private static BatchWriter reads(long sequence, int events) {
    BatchWriter writer = batch(1, sequence);
    for (int i = 0; i < events; i++) {
      writer.event(READ, tick(0), 1L, 1L);
    }
    return writer;
  }
}
