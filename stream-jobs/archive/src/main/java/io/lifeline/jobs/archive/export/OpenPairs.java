package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.ArchivedType;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Combines {@code X.start} and {@code X.end} of an emitter, read in order of time. With an {@code id} they have the
 * same one, preferably in the same thread; if it repeats, the first start belongs to the first end. Without an id they
 * are in the same thread, and the last start belongs to the first end, as calls nest.
 *
 * @param <T> what is kept of an open operation
 */
final class OpenPairs<T> {

  /** A start whose end has not been read yet. */
  static final class Open<T> {
    private final Group group;
    private final long thread;
    final T kept;

    private Open(Group group, long thread, T kept) {
      this.group = group;
      this.thread = thread;
      this.kept = kept;
    }
  }

  /** @param id null if the operation has none, and {@code thread} identifies it */
  private record Group(String incarnation, String operation, String id, long thread) {
    static Group of(ArchivedEvent event) {
      String id = event.id() == null ? null : ShortText.of(event.id());
      return new Group(event.incarnation(), event.type().operation(), id, id == null ? event.thread() : 0);
    }
  }

  private record EndOf(Group group, long thread) {}

  /** Where in the emitter's stream an end is. */
  private record Place(int route, long sequence, long index) {
    boolean isAfter(ArchivedEvent start) {
      int sequences = Long.compareUnsigned(sequence, start.sequence());
      return route == start.route() && (sequences > 0 || sequences == 0 && index > start.index());
    }
  }

  private final int maxOpen;
  private final Set<String> types;
  private final Counts counts;
  private final Map<Group, LinkedHashMap<Long, Deque<Open<T>>>> groups = new HashMap<>();
  private final LinkedHashSet<Open<T>> byAge = new LinkedHashSet<>();
  private final LinkedHashMap<EndOf, Place> unmatchedEnds = new LinkedHashMap<>();

  /** @param types names of the types that may occur: a start without any end in sight opens nothing */
  OpenPairs(int maxOpen, Set<String> types, Counts counts) {
    this.maxOpen = maxOpen;
    this.types = types;
    this.counts = counts;
  }

  /** Returns whether events of this type are halves of operations. */
  boolean isHalf(ArchivedType type) {
    return type.operation() != null && types.contains(type.counterpart());
  }

  /**
   * Returns whether the end of this start has already been read, because the emitter's clock was set back in between:
   * the end has an earlier time, although it was emitted later.
   */
  boolean isReversed(ArchivedEvent start) {
    EndOf end = new EndOf(Group.of(start), start.thread());
    Place place = unmatchedEnds.get(end);
    if (place == null || !place.isAfter(start)) {
      return false;
    }
    unmatchedEnds.remove(end);
    counts.add("reversed", 1);
    return true;
  }

  void open(ArchivedEvent start, T kept) {
    Group group = Group.of(start);
    Open<T> open = new Open<>(group, start.thread(), kept);
    groups.computeIfAbsent(group, key -> new LinkedHashMap<>())
        .computeIfAbsent(open.thread, key -> new ArrayDeque<>()).addLast(open);
    byAge.add(open);
  }

  /** Removes and returns the start that belongs to this end; null if there is none. */
  Open<T> close(ArchivedEvent end) {
    Group group = Group.of(end);
    Map<Long, Deque<Open<T>>> threads = groups.get(group);
    if (threads == null) {
      counts.add("ends_without_start", 1);
      unmatchedEnds.put(new EndOf(group, end.thread()), new Place(end.route(), end.sequence(), end.index()));
      removeOldest(unmatchedEnds.entrySet().iterator(), unmatchedEnds.size());
      return null;
    }
    Deque<Open<T>> opens = threads.get(end.thread());
    if (opens == null) {
      opens = threads.values().iterator().next();
    }
    Open<T> open = group.id() == null ? opens.getLast() : opens.getFirst();
    remove(open);
    counts.add("pairs", 1);
    return open;
  }

  private void removeOldest(Iterator<?> oldest, int size) {
    if (size > maxOpen) {
      oldest.next();
      oldest.remove();
    }
  }

  /** Removes and returns the oldest start beyond the limit; null if there is none. */
  Open<T> giveUp() {
    if (byAge.size() <= maxOpen) {
      return null;
    }
    Open<T> oldest = byAge.iterator().next();
    remove(oldest);
    counts.add("given_up", 1);
    return oldest;
  }

  private void remove(Open<T> open) {
    byAge.remove(open);
    Map<Long, Deque<Open<T>>> threads = groups.get(open.group);
    Deque<Open<T>> opens = threads.get(open.thread);
    // The oldest of a thread is its first, and a call that ends is its last.
    if (opens.getFirst() == open) {
      opens.removeFirst();
    } else {
      opens.removeLast();
    }
    if (opens.isEmpty()) {
      threads.remove(open.thread);
    }
    if (threads.isEmpty()) {
      groups.remove(open.group);
    }
  }

  /** Counts the operations that are still open. */
  void finish() {
    if (!byAge.isEmpty()) {
      counts.add("open", byAge.size());
    }
  }
}
