package io.lifeline.console.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import java.util.List;
import org.junit.jupiter.api.Test;

class SubscriptionTest {
  private static final EventType STEP = EventType.named("disk.step").field("id", FieldType.U64).build();
  private static final int QUEUE_BYTES = 1 << 20;
  private static final long PATIENCE_MS = 60_000;

  private static void add(EventLog log, long id) throws Exception {
    add(log, id, id);
  }

  private static void add(EventLog log, long id, long brokerTimeMs) throws Exception {
    byte[] data = new BatchWriter().incarnation(new Incarnation(1, 2)).sequence(id + 1).host("here").program("walker")
        .pid(42).calibration(0, 0, 0, 0, false).event(STEP, 0, id).toByteArray();
    log.add(new BatchReader().read(data, 0, data.length), data, brokerTimeMs);
  }

  /** Webhooks of a file begin before the console has read what waits at the broker. */
  @Test
  void aSubscriptionThatWaitedForTheLogMissesNothingThatArrivesBeforeItsThreadRuns() throws Exception {
    EventLog log = new EventLog(QUEUE_BYTES);
    EventQueue queue = new EventQueue(QUEUE_BYTES);
    log.begin(0);
    add(log, 0);
    try (Subscription subscription =
        Subscription.start(log, EventFilter.of(null, null, null, null), Start.NOW, queue)) {
      synchronized (log) { // the thread cannot look at the log meanwhile
        log.caughtUp();
        add(log, 1);
      }
      List<EventQueue.Item> items = queue.take(QUEUE_BYTES, PATIENCE_MS);
      assertThat(items).hasSize(1).first().isInstanceOfSatisfying(EventQueue.Event.class,
          event -> assertThat(event.id().number()).isEqualTo(1));
    }
  }

  /** The console answers while it loads an archive, before it reads from the broker. */
  @Test
  void aSubscriptionGetsWhatTheBrokerStoresWhileTheLogReadsOlderBatches() throws Exception {
    EventLog log = new EventLog(QUEUE_BYTES);
    EventQueue queue = new EventQueue(QUEUE_BYTES);
    log.begin(0);
    long beforeMs = System.currentTimeMillis() - 60_000;
    try (Subscription subscription =
        Subscription.start(log, EventFilter.of(null, null, null, null), Start.NOW, queue)) {
      add(log, 0, beforeMs);
      add(log, 1, System.currentTimeMillis() + 1);
      log.caughtUp();
      List<EventQueue.Item> items = queue.take(QUEUE_BYTES, PATIENCE_MS);
      assertThat(items).hasSize(1).first().isInstanceOfSatisfying(EventQueue.Event.class,
          event -> assertThat(event.id().number()).isEqualTo(1));
    }
  }
}
