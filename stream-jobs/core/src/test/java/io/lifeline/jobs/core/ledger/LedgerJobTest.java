package io.lifeline.jobs.core.ledger;

import static io.lifeline.jobs.core.TestBatches.READ;
import static io.lifeline.jobs.core.TestBatches.START_MS;
import static io.lifeline.jobs.core.TestBatches.at;
import static io.lifeline.jobs.core.TestBatches.batch;
import static io.lifeline.jobs.core.TestBatches.read;
import static io.lifeline.jobs.core.TestBatches.route;
import static io.lifeline.jobs.core.TestBatches.tick;
import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Recorder.Sent;
import io.lifeline.jobs.core.Recorder;
import io.lifeline.jobs.core.RetiredRoutes;
import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LedgerJobTest {

  private static final LedgerSettings SETTINGS = new LedgerSettings(1000, 60_000, 7 * 86_400_000L);

  private final Recorder output = new Recorder();
  private final MemoryState state = new MemoryState();
  private final Map<RouteKey, Long> archived = new HashMap<>();
  private final Map<Integer, Long> archivedTo = new HashMap<>();
  private LedgerJob job = open();

  @Test
  void balancesAnEmitterThatSaidItsLastWord() {
    accept(1, events(1, 1, 10).counter(Counter.EMITTED, 10));
    accept(2, events(1, 2, 5).counter(Counter.EMITTED, 15).finalBatch(true));
    archived.put(route(1), 15L);
    assertThat(balance(3))
        .contains("\"state\":\"final\"", "\"emitted\":15,\"received\":15,\"archived\":15,\"in_flight\":0,\"dropped\":0,"
            + "\"expired\":0,\"not_archived\":0,\"missing\":0,\"duplicated\":0");
  }

  /** A database that does not answer is queried by another thread; its count is unknown, not 0. */
  @Test
  void anArchiveThatDoesNotAnswerHoldsNothingUp() throws Exception {
    CountDownLatch answer = new CountDownLatch(1);
    AtomicInteger asked = new AtomicInteger();
    long startNs = System.nanoTime();
    ArchivedEvents slow =
        () -> {
          if (asked.incrementAndGet() == 1) {
            throw new IOException("the first answer is none");
          }
          try {
            answer.await();
          } catch (InterruptedException e) {
            throw new IOException(e);
          }
          return Map.of(route(1), 10L);
        };
    try (ArchivedCounts counts = new ArchivedCounts(slow, Duration.ofMillis(1))) {
      while (asked.get() < 2) {
        Thread.onSpinWait();
      }
      job = new LedgerJob(SETTINGS, state, counts, new Metrics());
      accept(1, events(1, 1, 10).counter(Counter.EMITTED, 10));
      assertThat(balance(2)).contains("\"archived\":null,");
      double unansweredS = counts.ageSeconds();
      answer.countDown();
      while (counts.last() == null) {
        Thread.onSpinWait();
      }
      assertThat(balance(4)).contains("\"archived\":10,");
      assertThat(counts.ageSeconds()).isGreaterThanOrEqualTo(0).isLessThan((System.nanoTime() - startNs) / 1e9);
      assertThat(unansweredS).isPositive();
    }
  }

  @Test
  void takesReceivedEventsForInFlightUntilTheArchiveHasThem() {
    accept(1, events(1, 1, 10).counter(Counter.EMITTED, 10));
    archived.put(route(1), 4L);
    assertThat(balance(2)).contains("\"archived\":4,\"in_flight\":6,");
    archived.put(route(1), 10L);
    assertThat(balance(4)).contains("\"revision\":2,", "\"archived\":10,\"in_flight\":0,");
  }

  @Test
  void countsWhatTheEmitterDroppedByReason() {
    accept(1, events(1, 1, 10)
        .counter(Counter.EMITTED, 18)
        .counter(Counter.DROPPED_RING_FULL, 5)
        .counter(Counter.DROPPED_OVERSIZE, 3)
        .counter(Counter.SAMPLED_OUT, 99));
    archived.put(route(1), 10L);
    assertThat(balance(2))
        .contains("\"emitted\":18,", "\"dropped\":8,", "\"missing\":0,")
        .contains("\"ring_full\":5,", "\"oversize\":3,", "\"sampled_out\":99");
  }

  @Test
  void takesSealedBatchesThatTheEmitterGaveUpForDroppedAndNotForMissing() {
    accept(1, events(1, 1, 10).counter(Counter.EMITTED, 10));
    accept(2, events(1, 3, 10).counter(Counter.EMITTED, 27).counter(Counter.DROPPED_SINK, 7));
    archived.put(route(1), 20L);
    assertThat(balance(100)).contains("\"dropped\":7,", "\"missing\":0,", "\"missing_batches\":1");
  }

  @Test
  void expectsAGapToBeFilledWhileTheEmitterLivesAndCallsItMissingAfter() {
    accept(1, events(1, 1, 10).counter(Counter.EMITTED, 10));
    accept(2, events(1, 3, 10).counter(Counter.EMITTED, 30));
    archived.put(route(1), 20L);
    assertThat(balance(3)).contains("\"state\":\"live\"", "\"in_flight\":10,", "\"missing\":0,");
    assertThat(balance(62.5)).contains("\"state\":\"lost_contact\"", "\"in_flight\":0,", "\"missing\":10,");
    accept(70, events(1, 2, 10).counter(Counter.EMITTED, 20));
    archived.put(route(1), 30L);
    assertThat(balance(71)).contains("\"state\":\"live\"", "\"emitted\":30,", "\"archived\":30,", "\"missing\":0,");
  }

  @Test
  void takesBatchesThatRetentionRemovedForExpired() {
    accept(1, events(1, 1, 10).counter(Counter.EMITTED, 10));
    job.expired(0, 2, 5);
    accept(2, events(1, 4, 10).counter(Counter.EMITTED, 40));
    archived.put(route(1), 20L);
    assertThat(balance(100)).contains("\"expired\":20,", "\"missing\":0,");
  }

  /** They expired between the ledger's reading and the archive's, so they are not on their way any more. */
  @Test
  void takesReceivedEventsThatTheArchiveHasPassedForLost() {
    job.accept(read(events(1, 1, 10).counter(Counter.EMITTED, 10)), at(100, 1), output);
    job.accept(read(events(1, 2, 5).counter(Counter.EMITTED, 15).finalBatch(true)), at(200, 2), output);
    archived.put(route(1), 10L);
    archivedTo.put(0, 200L);
    assertThat(balance(3)).contains("\"in_flight\":5,", "\"not_archived\":0,");
    job.save();
    job = open();
    archivedTo.put(0, 201L);
    assertThat(balance(5)).contains("\"in_flight\":0,", "\"not_archived\":5,", "\"missing\":0,");
    punctuate(7);
    job.save();
    assertThat(known()).as("nothing more is expected of it").isEmpty();
  }

  @Test
  void tellsARecoveredEmitterAndCountsRepeatedBatches() {
    accept(1, events(1, 1, 10).counter(Counter.EMITTED, 10));
    job.duplicate(read(events(1, 1, 10)), at(2, 2));
    accept(3, events(1, 2, 1).counter(Counter.EMITTED, 11).finalBatch(true).recovered(true));
    assertThat(balance(4)).contains("\"state\":\"recovered\"", "\"repeated_batches\":1");
  }

  @Test
  void showsEventsBeyondWhatWasEmittedAsDuplicated() {
    accept(1, events(1, 1, 10).counter(Counter.EMITTED, 8));
    assertThat(balance(2)).contains("\"duplicated\":2");
  }

  @Test
  void publishesOnlyWhatChangedAndGoesOnFromItsState() {
    accept(1, events(1, 1, 10).counter(Counter.EMITTED, 10));
    assertThat(balance(2)).contains("\"revision\":1,");
    punctuate(4);
    assertThat(output.take()).isEmpty();
    job.save();
    job = open();
    accept(5, events(1, 2, 10).counter(Counter.EMITTED, 20));
    assertThat(balance(6)).contains("\"revision\":2,", "\"received\":20,");
  }

  @Test
  void leavesArchivedOpenWithoutAnArchive() {
    job = new LedgerJob(SETTINGS, state, null, new Metrics());
    accept(1, events(1, 1, 10).counter(Counter.EMITTED, 10));
    assertThat(balance(2)).contains("\"received\":10,\"archived\":null,\"in_flight\":0,");
  }

  private LedgerJob open() {
    return new LedgerJob(SETTINGS, state, () -> new LedgerJob.Counts(archived, archivedTo), new Metrics());
  }

  /** Stream time may jump, or be set by a producer: an emitter whose batch arrived today is not silent. */
  @Test
  void anEmitterIsForgottenByTheTimeForThatAndNotByTheStreams() {
    long dayMs = 86_400_000;
    accept(1, events(1, 1, 10).counter(Counter.EMITTED, 10));
    job.forget(START_MS);
    punctuate(40 * 86_400);
    job.forget(START_MS + dayMs);
    job.save();
    job = open();
    accept(-40 * 86_400, events(2, 1, 1).counter(Counter.EMITTED, 1));
    job.forget(START_MS + 6 * dayMs);
    job.forget(START_MS + 7 * dayMs);
    job.save();
    assertThat(known()).containsExactly("ledger/account/" + route(1), "ledger/account/" + route(2));
    job.forget(START_MS + 8 * dayMs);
    job.save();
    assertThat(known()).containsExactly("ledger/account/" + route(2));
  }

  @Test
  void anAccountThatIsSettledLeavesMemoryUntilItsRouteIsHeardAgain() {
    accept(1, events(1, 1, 10).counter(Counter.EMITTED, 10).finalBatch(true));
    job.forget(START_MS + 1000);
    assertThat(balance(2)).contains("\"in_flight\":10,");
    punctuate(4);
    job.save();
    assertThat(known()).as("the archive does not have its events").hasSize(1);
    archived.put(route(1), 10L);
    assertThat(balance(6)).contains("\"revision\":2,", "\"in_flight\":0,");
    punctuate(8);
    job.save();
    assertThat(known()).isEmpty();
    job = open();
    punctuate(10);
    assertThat(output.take()).as("its last balance stands").isEmpty();
    job.duplicate(read(events(1, 1, 10)), at(2, 11));
    assertThat(balance(12)).contains("\"revision\":3,", "\"received\":10,", "\"repeated_batches\":1");
    accept(13, events(1, 2, 5).counter(Counter.EMITTED, 15).finalBatch(true));
    archived.put(route(1), 15L);
    assertThat(balance(14)).contains("\"revision\":4,", "\"received\":15,", "\"archived\":15,");
  }

  /** It was killed, or its last batches are lost: perhaps nothing comes any more. */
  @Test
  void anAccountThatHasBeenSilentForAnHourLeavesMemoryAlsoIfItHasNotEnded() {
    accept(1, events(1, 1, 10).counter(Counter.EMITTED, 10));
    accept(2, events(1, 3, 10).counter(Counter.EMITTED, 30));
    archived.put(route(1), 19L);
    job.forget(START_MS);
    assertThat(balance(100)).contains("\"state\":\"lost_contact\"", "\"in_flight\":1,", "\"missing\":10,");
    job.forget(START_MS + RetiredRoutes.IDLE_MS + 1);
    punctuate(3700);
    job.save();
    assertThat(known()).as("the archive does not have all").hasSize(1);
    archived.put(route(1), 20L);
    assertThat(balance(3800)).contains("\"in_flight\":0,");
    punctuate(3900);
    job.save();
    assertThat(known()).isEmpty();
    job = open();
    accept(4000, events(1, 2, 10).counter(Counter.EMITTED, 20));
    archived.put(route(1), 30L);
    assertThat(balance(4001))
        .contains("\"state\":\"live\"", "\"revision\":3,", "\"received\":30,", "\"missing\":0,");
  }

  @Test
  void anAccountStaysInMemoryWhileTimeAloneMayChangeItsBalance() {
    accept(1, events(1, 1, 10).counter(Counter.EMITTED, 10));
    archived.put(route(1), 10L);
    job.forget(START_MS);
    assertThat(balance(2)).contains("\"state\":\"live\"", "\"in_flight\":0,");
    job.forget(START_MS + RetiredRoutes.IDLE_MS + 1);
    punctuate(4);
    job.save();
    assertThat(known()).hasSize(1);
    assertThat(balance(100)).contains("\"state\":\"lost_contact\"");
    punctuate(102);
    job.save();
    assertThat(known()).isEmpty();
  }

  /** Values outside memory are dropped many at a time, so they last a little longer. */
  @Test
  void anAccountIsForgottenWithTheRetentionAlsoIfItIsNotInMemory() {
    long dayMs = 86_400_000;
    accept(1, events(1, 1, 10).counter(Counter.EMITTED, 10).finalBatch(true));
    archived.put(route(1), 10L);
    job.forget(START_MS);
    assertThat(balance(2)).contains("\"received\":10,");
    punctuate(4);
    job.save();
    assertThat(known()).isEmpty();
    job.forget(START_MS + 6 * dayMs);
    job.duplicate(read(events(1, 1, 10)), at(2, 6 * 86_400));
    assertThat(balance(6 * 86_400)).as("which lengthens nothing").contains("\"repeated_batches\":1");
    punctuate(6 * 86_400 + 2);
    job.save();
    assertThat(known()).isEmpty();
    job.forget(START_MS + 8 * dayMs);
    archived.clear();
    accept(8 * 86_400, events(1, 2, 5).counter(Counter.EMITTED, 15).finalBatch(true));
    assertThat(balance(8 * 86_400 + 2)).contains("\"revision\":1,", "\"received\":5,");
  }

  private List<String> known() {
    List<String> keys = new ArrayList<>();
    state.scan("ledger/account/", (key, value) -> keys.add(key));
    return keys;
  }

  private static BatchWriter events(int emitter, long sequence, int count) {
    BatchWriter batch = batch(emitter, sequence);
    for (int i = 0; i < count; i++) {
      batch.event(READ, tick(1), (long) i, 100L);
    }
    return batch;
  }

  private void accept(double brokerSeconds, BatchWriter batch) {
    job.accept(read(batch), at(1, brokerSeconds), output);
  }

  private void punctuate(double seconds) {
    job.punctuate(START_MS + (long) (seconds * 1000), output);
  }

  /** Returns the only balance that is published at that time. */
  private String balance(double seconds) {
    punctuate(seconds);
    List<Sent> sent = output.take();
    assertThat(sent).hasSize(1);
    assertThat(sent.get(0).key()).isEqualTo(route(1).toString());
    return sent.get(0).value();
  }
}
