package io.lifeline.console.web;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.console.access.Access;
import io.lifeline.console.access.Audit;
import io.lifeline.console.events.EventLog;
import io.lifeline.console.webhook.DeliveryLimits;
import io.lifeline.console.webhook.Targets;
import io.lifeline.console.webhook.Webhooks;
import io.lifeline.jobs.core.Metrics;
import java.io.IOException;
import java.net.URI;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** A server without archive and broker, to whose log a test adds batches. */
final class Console implements AutoCloseable {
  private static final EventType STEP = EventType.named("disk.step").field("id", FieldType.U64)
      .field("what", FieldType.STRING).build();
  private static final EventType OTHER = EventType.named("net.step").field("id", FieldType.U64).build();
  private static final long NOW = 1_790_000_000_000_000_000L;

  final EventLog log;
  final EventOperations events;
  final Webhooks webhooks;
  private final Server server;
  private long sequence;
  private long emitted;

  Console(EventLog log, long unreadMs) throws IOException {
    this(log, unreadMs, new Webhooks(log, null, DeliveryLimits.USUAL, new Targets(Set.of("127.0.0.1"))));
  }

  Console(EventLog log, long unreadMs, Webhooks webhooks) throws IOException {
    this.log = log;
    this.webhooks = webhooks;
    this.events = new EventOperations(log, true);
    this.server = Server.start(new Server.Address("127.0.0.1", 0, null),
        Routes.of(events, new WebhookOperations(webhooks, true)), new Metrics(), Access.withoutLogin(), Audit.none(),
        unreadMs);
    log.begin(0);
    log.caughtUp();
  }

  /** Adds a batch of that many {@code disk.step}, and one {@code net.step} behind them; ids go on. */
  void add(int steps, String what) throws RejectedBatchException {
    add(steps, what, System.currentTimeMillis());
  }

  void add(int steps, String what, long brokerTimeMs) throws RejectedBatchException {
    BatchWriter batch = new BatchWriter().incarnation(new Incarnation(1, 2)).sequence(++sequence).host("here")
        .program("walker").pid(42).calibration(0, 0, NOW, 0, false);
    for (int i = 0; i < steps; i++) {
      batch.event(STEP, i, emitted++, what);
    }
    byte[] data = batch.event(OTHER, steps, emitted++).toByteArray();
    log.add(new BatchReader().read(data, 0, data.length), data, brokerTimeMs);
  }

  URI url(String path) {
    return URI.create(server.url()).resolve("/api/v1" + path);
  }

  static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + 60_000_000_000L;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("not within 60 s: " + what);
      }
      Thread.sleep(10);
    }
  }

  @Override
  public void close() {
    webhooks.close();
    server.close();
  }
}
