package io.lifeline.jobs.bench;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** One process of a copy: collects the start and the end of operations into batches, in order of time. */
final class CopyEmitter {
  private static final int EVENTS_PER_BATCH = 4_000;
  /** The standard events of schemas/catalogue, start and end of each operation. */
  private static final List<EventType> TYPES = List.of(start("disk.read", true), end("disk.read"),
      start("net.send", false), end("net.send"), start("net.receive", false), end("net.receive"),
      start("disk.write", true), end("disk.write"));

  /** Takes finished batches. */
  @FunctionalInterface
  interface Output {
    void accept(byte[] batch, long timeNs) throws IOException;
  }

  private record Event(EventType type, long time, Object[] values) {}

  private final Incarnation incarnation;
  private final String program;
  private final String host;
  private final long pid;
  private final long startNs;
  private final Output output;
  private final List<Event> events = new ArrayList<>();
  private long sequence;
  private long emitted;

  /** @param startNs the time that ticks are counted from, in nanoseconds since 1970 */
  CopyEmitter(Incarnation incarnation, String program, String host, long pid, long startNs, Output output) {
    this.incarnation = incarnation;
    this.program = program;
    this.host = host;
    this.pid = pid;
    this.startNs = startNs;
    this.output = output;
  }

  private static EventType start(String operation, boolean withOffset) {
    EventType.Builder type = EventType.named(operation + ".start").field("id", FieldType.U64, "");
    return (withOffset ? type.field("offset", FieldType.U64, "B") : type).build();
  }

  private static EventType end(String operation) {
    return EventType.named(operation + ".end").field("id", FieldType.U64, "").field("nbytes", FieldType.U64, "B")
        .build();
  }

  /** @param number of the operation: read, send, receive, write */
  void operation(int number, long id, long position, long bytes, long from, long to) throws IOException {
    EventType start = TYPES.get(2 * number);
    events.add(new Event(start, from, start.fields().size() == 1 ? new Object[] {id} : new Object[] {id, position}));
    events.add(new Event(TYPES.get(2 * number + 1), to, new Object[] {id, bytes}));
    if (events.size() >= EVENTS_PER_BATCH) {
      seal(false);
    }
  }

  /** Writes what is left, as the emitter's last batch. */
  void end() throws IOException {
    seal(true);
  }

  private void seal(boolean last) throws IOException {
    events.sort(Comparator.comparingLong(Event::time));
    emitted += events.size();
    BatchWriter batch = new BatchWriter().incarnation(incarnation).sequence(++sequence).host(host).program(program)
        .pid(pid).calibration(0, 0, startNs, 0, false).finalBatch(last)
        .counter(Counter.EMITTED, emitted);
    for (Event event : events) {
      batch.event(event.type, event.time, event.values);
    }
    long time = events.isEmpty() ? 0 : events.get(events.size() - 1).time;
    events.clear();
    output.accept(batch.toByteArray(), startNs + time);
  }
}
