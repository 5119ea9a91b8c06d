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
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DerivedStreamTest {

  private static final int EVENTS = 10_000;

  private final Recorder output = new Recorder();

  /** As for a parent that consists only of its header; copying that for each event would take minutes. */
  @Test
  void eventsThatFitNoBatchAreGivenUpSoonAndCounted() throws Exception {
    DerivedStream stream =
        stream("a", new MemoryState());
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

  /** Otherwise a sequence would have two contents if the condition changed between a crash and the restart. */
  @Test
  void underAnotherRecipeTheRouteBeginsAnewEvenIfItComesBack() throws Exception {
    MemoryState state = new MemoryState();
    BatchReader first = derived(stream("a", state), 1, true);
    BatchReader changed = derived(stream("b", state), 2, true);
    BatchReader back = derived(stream("a", state), 3, true);
    assertThat(List.of(first.incarnation(), changed.incarnation(), back.incarnation())).doesNotHaveDuplicates();
    assertThat(List.of(first.sequence(), changed.sequence(), back.sequence())).containsOnly(1L);
    assertThat(back.counter(Counter.EMITTED)).isEqualTo(1);
    assertThat(back.header().parent().eventsIn()).isEqualTo(1);
    BatchReader on = derived(stream("a", state), 4, true);
    assertThat(on.incarnation()).isEqualTo(back.incarnation());
    assertThat(on.sequence()).isEqualTo(2);
  }

  @Test
  void aRecipeOfAJobThatDiedBeforeItSavedIsNotTakenForTheNextOne() throws Exception {
    MemoryState state = new MemoryState();
    BatchReader first = derived(stream("a", state), 1, true);
    BatchReader lost = derived(stream("b", state), 2, false);
    assertThat(derived(stream("c", state), 2, false).incarnation()).isNotEqualTo(lost.incarnation());
    BatchReader back = derived(stream("a", state), 2, true);
    assertThat(back.incarnation()).isEqualTo(first.incarnation());
    assertThat(back.sequence()).isEqualTo(2);
  }

  /** The time is the caller's, not the timestamp that the broker or a producer gave the parent. */
  @Test
  void aRouteIsForgottenAfterTwiceTheRetention() throws Exception {
    MemoryState state = new MemoryState();
    DerivedStream stream = stream("a", state);
    BatchReader before = derived(stream, 1, true);
    long nowMs = 10_000_000_000_000L;
    stream.forget(nowMs);
    stream.forget(nowMs + 120_000);
    assertThat(derived(stream, 2, true).sequence()).isEqualTo(2);
    stream.forget(nowMs + 240_000);
    stream.forget(nowMs + 360_000);
    stream.forget(nowMs + 420_001);
    BatchReader anew = derived(stream, 3, true);
    assertThat(anew.sequence()).as("forgotten").isEqualTo(1);
    assertThat(anew.incarnation()).as("archives forget nothing").isNotEqualTo(before.incarnation());
  }

  /** The broker may have expired the first batches meanwhile: then the same sequences have other contents. */
  @Test
  void aJobThatStartsOverNumbersAnewUnlessTheFirstBatchIsStillThere() throws Exception {
    BatchReader first = derived(stream("a", new MemoryState()), 1, true);
    BatchReader again = derived(stream("a", new MemoryState()), 1, true);
    BatchReader cut = derived(stream("a", new MemoryState()), 2, true);
    assertThat(again.incarnation()).isEqualTo(first.incarnation());
    assertThat(cut.incarnation()).isNotEqualTo(first.incarnation());
  }

  @Test
  void batchesThatComeAfterTheLastOneAreAccountedForEvenIfNothingIsDerivedFromThem() throws Exception {
    DerivedStream stream = stream("a", new MemoryState());
    stream.derive(read(reads(2, 1).finalBatch(true)), at(2, 0), 1, (from, to) -> reads(2, 1), output);
    stream.derive(read(reads(1, 5)), at(3, 0), 0, (from, to) -> batch(1, 1), output);
    byte[] bytes = output.messages().get(1).bytes();
    BatchReader late = new BatchReader().read(bytes, 0, bytes.length);
    assertThat(late.header().parent().eventsIn()).isEqualTo(5);
    assertThat(late.counter(Counter.BELOW_THRESHOLD)).isEqualTo(5);
  }

  /** A spool may bring back batches long after the last one. */
  @Test
  void aRouteThatHasEndedLeavesMemoryAndContinuesWhenItIsHeardAgain() throws Exception {
    MemoryState state = new MemoryState();
    DerivedStream stream = stream("a", state);
    BatchReader first = derived(stream, 1, true);
    BatchReader last = read(reads(3, 1).finalBatch(true));
    stream.derive(last, at(3, 3), 1, (from, to) -> reads(3, 1), output);
    stream.forget(1000);
    stream.forget(61_001);
    stream.save();
    state.scan("derive/", (key, value) -> assertThat(key).as("nothing").isNull());
    BatchReader late = derived(stream("a", state), 2, true);
    assertThat(late.incarnation()).isEqualTo(first.incarnation());
    assertThat(late.sequence()).isEqualTo(3);
    assertThat(late.counter(Counter.EMITTED)).isEqualTo(3);
    assertThat(late.isFinal()).isTrue();
  }

  @Test
  void aRouteThatWasHeardAgainIsNotForgottenAfterARestart() throws Exception {
    MemoryState state = new MemoryState();
    DerivedStream stream = stream("a", state);
    derived(stream, 1, true);
    stream.derive(read(reads(3, 1).finalBatch(true)), at(3, 3), 1, (from, to) -> reads(3, 1), output);
    stream.forget(1000);
    stream.forget(61_001);
    stream.save();
    assertThat(derived(stream("a", state), 2, true).sequence()).isEqualTo(3);
    DerivedStream restarted = stream("a", state);
    restarted.forget(190_000); // more than twice the retention after it was heard first
    restarted.save();
    assertThat(derived(restarted, 4, true).sequence()).isEqualTo(4);
  }

  private static DerivedStream stream(String recipe, MemoryState state) {
    return new DerivedStream("large", recipe, DerivedStream.Rest.LEFT_OUT, state, 60_000, new Metrics());
  }

  /** Returns the batch derived from a batch of one event. */
  private BatchReader derived(DerivedStream stream, long sequence, boolean isSaved) throws Exception {
    stream.derive(read(reads(sequence, 1)), at(sequence, sequence), 1, (from, to) -> reads(sequence, 1), output);
    if (isSaved) {
      stream.save();
    }
    byte[] bytes = output.messages().get(output.messages().size() - 1).bytes();
    return new BatchReader().read(bytes, 0, bytes.length);
  }

  private static BatchWriter reads(long sequence, int events) {
    BatchWriter writer = batch(1, sequence);
    for (int i = 0; i < events; i++) {
      writer.event(READ, tick(0), 1L, 1L);
    }
    return writer;
  }
}
