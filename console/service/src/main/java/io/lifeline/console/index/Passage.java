package io.lifeline.console.index;

import java.util.function.IntPredicate;

/**
 * What an object does between two event types, or from its first event to its last.
 *
 * @param fromKind type of the first event; -1 for the first one of the object
 * @param toKind type of the second event; -1 for the last one of the object
 */
public record Passage(int fromKind, int toKind) {
  public static final Passage WHOLE = new Passage(-1, -1);

  /** Receives passages: the event at the end, and the time since the beginning. */
  @FunctionalInterface
  public interface Visitor {
    void visit(int event, long durationNs);
  }

  /** Calls back for each passage that ends in the span. */
  public void forEach(Snapshot snapshot, Span span, IntPredicate origin, Visitor visitor) {
    EventColumns events = snapshot.events;
    ObjectTable objects = snapshot.objects;
    snapshot.forEach(span, origin == null ? any -> true : origin, (event, time) -> {
      int object = events.object(event);
      if (object == EventColumns.NONE || toKind >= 0 && events.type(event) != toKind
          || toKind < 0 && objects.last(object) != event) {
        return;
      }
      if (fromKind < 0) {
        visitor.visit(event, time - objects.firstTime(object));
        return;
      }
      int earlier = events.previous(event);
      for (int i = 0; earlier != EventColumns.NONE && i < Snapshot.MOST_EVENTS_OF_OBJECT; i++) {
        if (events.type(earlier) == fromKind) {
          visitor.visit(event, time - events.time(earlier));
          return;
        }
        if (events.type(earlier) == toKind) {
          return; // it belongs to the passage that ended there
        }
        earlier = events.previous(earlier);
      }
    });
  }
}
