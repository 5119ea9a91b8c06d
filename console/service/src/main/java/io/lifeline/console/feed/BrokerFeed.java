package io.lifeline.console.feed;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.console.events.EventLog;
import io.lifeline.console.index.Origin;
import io.lifeline.console.index.TraceIndex;
import io.lifeline.jobs.core.directory.Directory;
import io.lifeline.jobs.core.live.LiveMessages;
import io.lifeline.jobs.core.live.SeenBatches;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** Adds the events of batches to the index, and the batches to the log, as they arrive at the broker. */
final class BrokerFeed {
  private static final Duration PATIENCE = Duration.ofMillis(500);
  /** With more than this waiting, messages are added together, and the page draws less often. */
  private static final int MOST_TOGETHER = 64;

  private final TraceIndex index;
  private final SeenBatches seen;
  private final Directory directory;
  private final EventLog log;
  /** The log also gets what the index has from the archive. */
  private final SeenBatches logged = new SeenBatches();
  private final AtomicLong rejected = new AtomicLong();
  private final BatchReader reader = new BatchReader();

  BrokerFeed(TraceIndex index, SeenBatches seen, Directory directory, EventLog log) {
    this.index = index;
    this.seen = seen;
    this.directory = directory;
    this.log = log;
  }

  /** Runs until the thread is interrupted. */
  void run(LiveMessages messages) throws InterruptedException {
    List<LiveMessages.Message> together = new ArrayList<>();
    while (!Thread.currentThread().isInterrupted()) {
      LiveMessages.Message message = messages.next(PATIENCE);
      if (message != null) {
        together.add(message);
      }
      if (!together.isEmpty() && (message == null || message.behind() <= 0 || together.size() == MOST_TOGETHER)) {
        index.add(() -> together.forEach(this::add));
        together.clear();
      }
      if (message == null ? messages.trouble() == null : message.behind() <= 0) {
        log.caughtUp();
      }
    }
  }

  long rejected() {
    return rejected.get();
  }

  private void add(LiveMessages.Message message) {
    try {
      reader.read(message.data(), 0, message.data().length);
    } catch (RejectedBatchException e) {
      rejected.incrementAndGet(); // the jobs report it with all details
      return;
    }
    directory.add(reader, message.brokerTimeMs(), message.data().length);
    if (logged.add(reader.incarnation(), reader.route(), reader.sequence())) {
      log.add(reader, message.data(), message.brokerTimeMs());
    }
    if (!seen.add(reader.incarnation(), reader.route(), reader.sequence())) {
      return;
    }
    int origin = index.origin(
        new Origin(reader.incarnation().toString(), reader.program(), reader.host(), reader.pid()));
    Map<EventType, Integer> kinds = new IdentityHashMap<>();
    while (reader.next()) {
      EventType type = reader.type();
      int kind = kinds.computeIfAbsent(type, any -> index.kind(type.name(), type.level().label()));
      index.event(reader.timeNs(), kind, id(type), origin);
    }
  }

  /** Returns the id of the current event as the archive writes it; null if it has none. */
  private String id(EventType type) {
    int field = type.fieldIndex("id");
    if (field < 0) {
      return null;
    }
    FieldType fieldType = type.fields().get(field).type();
    return switch (fieldType) {
      case STRING -> reader.getString(field);
      case BYTES -> null;
      case F32, F64 -> Double.toString(reader.getDouble(field));
      case BOOL -> Boolean.toString(reader.getBoolean(field));
      case U64 -> Long.toUnsignedString(reader.getLong(field));
      default -> Long.toString(reader.getLong(field));
    };
  }
}
