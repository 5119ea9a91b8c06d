package io.lifeline.console.index;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.List;
import java.util.function.IntPredicate;

/** The events during {@link TraceIndex#read}; invalid afterwards. */
public final class Snapshot {
  /** Longest part of an object's path that is followed. */
  static final int MOST_EVENTS_OF_OBJECT = 10_000;
  static final Span EVER = new Span(Long.MIN_VALUE, Long.MAX_VALUE);

  final EventColumns events;
  final ObjectTable objects;
  final List<BlockSummary> blocks;
  private final List<EventKind> kinds;
  private final List<Origin> origins;
  private final IntList firstOrigins;

  Snapshot(EventColumns events, ObjectTable objects, List<BlockSummary> blocks, List<EventKind> kinds,
      List<Origin> origins, IntList firstOrigins) {
    this.events = events;
    this.objects = objects;
    this.blocks = blocks;
    this.kinds = kinds;
    this.origins = origins;
    this.firstOrigins = firstOrigins;
  }

  public List<EventKind> kinds() {
    return kinds;
  }

  public List<Origin> origins() {
    return origins;
  }

  public int objectCount() {
    return objects.size();
  }

  public boolean exists(int object) {
    return objects.exists(object);
  }

  public String id(int object) {
    return objects.id(object);
  }

  /** Returns the newest object with an id, or -1. */
  public int find(String id) {
    return objects.find(id);
  }

  /** Returns the span of all events; null if there are none. */
  public Span span() {
    long from = Long.MAX_VALUE;
    long to = Long.MIN_VALUE;
    for (BlockSummary block : blocks) {
      if (block.minTime() <= block.maxTime()) {
        from = Math.min(from, block.minTime());
        to = Math.max(to, block.maxTime());
      }
    }
    return from > to ? null : new Span(from, to);
  }

  /** Returns the span of the events of some emitters; null if there are none. */
  public Span span(IntPredicate origin) {
    long[] ends = {Long.MAX_VALUE, Long.MIN_VALUE};
    forEach(EVER, origin, (event, time) -> {
      ends[0] = Math.min(ends[0], time);
      ends[1] = Math.max(ends[1], time);
    });
    return ends[0] > ends[1] ? null : new Span(ends[0], ends[1]);
  }

  /** Returns the number of events of each type of some emitters. */
  public long[] eventsByKind(IntPredicate origin) {
    long[] counts = new long[kinds.size()];
    forEach(EVER, origin, (event, time) -> counts[events.type(event)]++);
    return counts;
  }

  /** Returns the number of events of each type. */
  public long[] eventsByKind() {
    long[] counts = new long[kinds.size()];
    for (BlockSummary block : blocks) {
      for (int i = 0; i < block.types().length; i++) {
        counts[block.types()[i]] += block.counts()[i];
      }
    }
    return counts;
  }

  /** Returns the events of an object that are still known, in order of time. */
  public int[] path(int object) {
    int[] backwards = new int[Math.min(objects.events(object), MOST_EVENTS_OF_OBJECT)];
    int found = 0;
    for (int event = objects.last(object); event != EventColumns.NONE && found < backwards.length;
        event = events.previous(event)) {
      backwards[found++] = event;
    }
    int[] path = new int[found];
    for (int i = 0; i < found; i++) {
      path[i] = backwards[found - 1 - i];
    }
    return path;
  }

  public long time(int event) {
    return events.time(event);
  }

  public EventKind kind(int event) {
    return kinds.get(events.type(event));
  }

  public Origin origin(int event) {
    return origins.get(events.emitter(event));
  }

  /** Returns the object of an event. */
  public int object(int event) {
    return events.object(event);
  }

  /** Returns the number of the emitter whose event was the first of a type. */
  int firstOrigin(int kind) {
    return firstOrigins.getInt(kind);
  }

  int originNumber(int event) {
    return events.emitter(event);
  }

  /** Calls back for each event of the span whose origin is accepted, in no particular order. */
  void forEach(Span span, IntPredicate origin, EventVisitor visitor) {
    for (int block = 0; block < blocks.size(); block++) {
      if (blocks.get(block).hasEventsIn(span.from(), span.to())) {
        forEachIn(block, span, origin, visitor);
      }
    }
  }

  void forEachIn(int block, Span span, IntPredicate origin, EventVisitor visitor) {
    int end = Math.min(events.end(), (block + 1) * BlockSummary.EVENTS);
    for (int event = block * BlockSummary.EVENTS; event < end; event++) {
      if (events.type(event) != EventColumns.NONE) {
        long time = events.time(event);
        if (time >= span.from() && time <= span.to() && origin.test(events.emitter(event))) {
          visitor.visit(event, time);
        }
      }
    }
  }

  /** Receives events. */
  @FunctionalInterface
  interface EventVisitor {
    void visit(int event, long time);
  }
}
