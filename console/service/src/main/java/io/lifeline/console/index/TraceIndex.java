package io.lifeline.console.index;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;

/**
 * The newest events of an archive or a broker, up to a limit. One thread adds, in pieces between {@link #add}; any
 * thread may ask, through {@link #read}.
 *
 * <p>Events should arrive roughly in the order of time. Any order is correct, but the further they are from it, the
 * more blocks a question has to look at.
 */
public final class TraceIndex {
  /** How far back a late event is sorted into its object; further ones are put where the search ended. */
  private static final int MOST_STEPS_BACK = 4096;
  /** There can be no more types and emitters than this; further ones share the last number. */
  private static final int MOST_KINDS = 50_000;
  private static final int MOST_ORIGINS = 200_000;
  private static final int NO_ORIGIN = -1;

  private final ReadWriteLock lock = new ReentrantReadWriteLock();
  private final EventColumns events;
  private final ObjectTable objects = new ObjectTable();
  private final List<BlockSummary> blocks = new ArrayList<>();
  private final BitSet dirty = new BitSet();

  private final List<EventKind> kinds = new ArrayList<>();
  private final Map<String, Integer> kindByName = new HashMap<>();
  private final IntArrayList firstOrigins = new IntArrayList();
  private final List<Origin> origins = new ArrayList<>();
  private final Map<String, Integer> originByIncarnation = new HashMap<>();

  private long added;
  private long forgotten;
  private long withoutObject;

  /** @param limit number of events that are kept at least */
  public TraceIndex(int limit) {
    this.events = new EventColumns(limit);
  }

  /** Adds events while nobody reads. */
  public void add(Runnable additions) {
    Lock writing = lock.writeLock();
    writing.lock();
    try {
      additions.run();
      summarise();
    } finally {
      writing.unlock();
    }
  }

  /** Answers a question about the events as they are at one moment. */
  public <T> T read(Function<Snapshot, T> question) {
    Lock reading = lock.readLock();
    reading.lock();
    try {
      return question.apply(new Snapshot(events, objects, blocks, kinds, origins, firstOrigins));
    } finally {
      reading.unlock();
    }
  }

  /** Returns the number of a type; within {@link #add}. */
  public int kind(String name, String level) {
    Integer known = kindByName.get(name);
    if (known != null) {
      return known;
    }
    int number = Math.min(kinds.size(), MOST_KINDS);
    if (number == MOST_KINDS) {
      return MOST_KINDS - 1;
    }
    kinds.add(EventKind.of(number, name, level));
    kindByName.put(name, number);
    firstOrigins.add(NO_ORIGIN);
    return number;
  }

  /** Returns the number of an emitter; within {@link #add}. */
  public int origin(Origin origin) {
    Integer known = originByIncarnation.get(origin.incarnation());
    if (known != null) {
      return known;
    }
    if (origins.size() == MOST_ORIGINS) {
      return MOST_ORIGINS - 1;
    }
    origins.add(origin);
    originByIncarnation.put(origin.incarnation(), origins.size() - 1);
    return origins.size() - 1;
  }

  /**
   * Adds one event; within {@link #add}.
   *
   * @param kind result of {@link #kind}
   * @param id ties it to an object; null if it has none
   * @param origin result of {@link #origin}
   */
  public void event(long timeNs, int kind, String id, int origin) {
    if (events.mustClear()) {
      forgetOldest();
    }
    int object = id == null ? ObjectTable.NONE : objectOf(id, timeNs, kind);
    int event = events.append(timeNs, kind, object, origin);
    if (firstOrigins.getInt(kind) == NO_ORIGIN) {
      firstOrigins.set(kind, origin);
    }
    dirty.set(event / BlockSummary.EVENTS);
    added++;
    if (object != ObjectTable.NONE) {
      link(event, object, timeNs, kind);
    }
  }

  private int objectOf(String id, long timeNs, int kind) {
    int newest = objects.find(id);
    if (newest == ObjectTable.NONE) {
      if (!objects.hasRoom(id)) {
        withoutObject++;
        return ObjectTable.NONE;
      }
      return objects.create(id, timeNs, kind);
    }
    int last = objects.last(newest);
    if (kind == objects.firstType(newest) && objects.events(newest) > 1 && timeNs > events.time(last)) {
      return objects.create(id, timeNs, kind); // it starts again
    }
    if (timeNs < objects.firstTime(newest)) {
      int former = objects.former(newest);
      if (former != ObjectTable.NONE && timeNs <= events.time(objects.last(former))) {
        return former;
      }
    }
    return newest;
  }

  /** Sorts an event into the list of its object. */
  private void link(int event, int object, long timeNs, int kind) {
    int later = EventColumns.NONE;
    int earlier = objects.last(object);
    for (int i = 0; earlier != EventColumns.NONE && events.time(earlier) > timeNs && i < MOST_STEPS_BACK; i++) {
      later = earlier;
      earlier = events.previous(earlier);
    }
    events.setPrevious(event, earlier);
    if (later == EventColumns.NONE) {
      objects.setLast(object, event);
    } else {
      events.setPrevious(later, event);
      dirty.set(later / BlockSummary.EVENTS);
    }
    if (timeNs < objects.firstTime(object)) {
      objects.setFirst(object, timeNs, kind);
      dirty.set(objects.last(object) / BlockSummary.EVENTS); // all of it takes longer now
    }
    objects.count(object);
  }

  /** Clears the oldest chunk, with the objects that end in it. */
  private void forgetOldest() {
    int first = events.next();
    for (int event = first; event < first + EventColumns.CHUNK; event++) {
      int object = events.object(event);
      if (object != ObjectTable.NONE && objects.exists(object) && objects.last(object) == event) {
        objects.forget(object);
      }
    }
    events.clear();
    forgotten += EventColumns.CHUNK;
    dirty.set(first / BlockSummary.EVENTS, (first + EventColumns.CHUNK) / BlockSummary.EVENTS);
  }

  private void summarise() {
    for (int block = dirty.nextSetBit(0); block >= 0; block = dirty.nextSetBit(block + 1)) {
      BlockSummary summary = BlockSummary.of(events, objects, block);
      if (block == blocks.size()) {
        blocks.add(summary);
      } else {
        blocks.set(block, summary);
      }
    }
    dirty.clear();
  }

  /** Returns how many events were added. */
  public long added() {
    return read(snapshot -> added);
  }

  /** Returns how many events made room for newer ones. */
  public long forgotten() {
    return read(snapshot -> forgotten);
  }

  /** Returns how many events have an id too long to be kept. */
  public long withoutObject() {
    return read(snapshot -> withoutObject);
  }
}
