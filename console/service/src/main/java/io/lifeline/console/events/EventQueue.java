package io.lifeline.console.events;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What waits for one subscriber, up to a number of bytes. Thread-safe. */
public final class EventQueue {
  /** Bytes that an item takes beyond its text. */
  private static final int OVERHEAD = 100;

  /** What a subscriber gets. */
  public sealed interface Item permits Event, Alert, Skipped, Gap {
    /** Returns how many bytes it takes. */
    default int size() {
      return OVERHEAD;
    }
  }

  /** @param id resumes the subscription behind this event */
  public record Event(EventId id, byte[] json) implements Item {
    @Override
    public int size() {
      return OVERHEAD + json.length;
    }
  }

  public record Alert(byte[] json) implements Item {
    @Override
    public int size() {
      return OVERHEAD + json.length;
    }
  }

  /** Events for which the queue had no room, in the place where they are missing. */
  public record Skipped(long events) implements Item {}

  /**
   * The subscription begins later than asked for.
   *
   * @param events how many events are missing, selected or not; null if unknown
   */
  public record Gap(String reason, Long events) implements Item {}

  private final int capacity;
  private final Deque<Item> items = new ArrayDeque<>();
  private int size;

  /** @param capacity bytes; one event may exceed them */
  public EventQueue(int capacity) {
    this.capacity = capacity;
  }

  /** Adds an event or an alert; returns false if there is no room. */
  public synchronized boolean offer(Item item) {
    if (size >= capacity) {
      return false;
    }
    put(item);
    return true;
  }

  synchronized void gap(Gap gap) {
    put(gap);
  }

  /** Counts events that are left out here. */
  synchronized void skip(long events) {
    if (items.peekLast() instanceof Skipped before) {
      items.removeLast();
      items.addLast(new Skipped(before.events() + events));
    } else {
      put(new Skipped(events));
    }
  }

  private void put(Item item) {
    items.addLast(item);
    size += item.size();
    notifyAll();
  }

  synchronized boolean isFull() {
    return size >= capacity;
  }

  synchronized void awaitRoom(long timeoutMs) throws InterruptedException {
    if (size >= capacity) {
      TimeUnit.MILLISECONDS.timedWait(this, timeoutMs);
    }
  }

  public synchronized void awaitItem() throws InterruptedException {
    while (items.isEmpty()) {
      wait();
    }
  }

  /** Takes what waits, but not much more than so many bytes; empty on timeout. */
  public synchronized List<Item> take(int bytes, long timeoutMs) throws InterruptedException {
    if (items.isEmpty()) {
      TimeUnit.MILLISECONDS.timedWait(this, timeoutMs);
    }
    List<Item> taken = new ArrayList<>();
    for (int sum = 0; sum < bytes && !items.isEmpty(); ) {
      Item item = items.removeFirst();
      taken.add(item);
      sum += item.size();
      size -= item.size();
    }
    notifyAll();
    return taken;
  }

  /** Returns the bytes that wait. */
  public synchronized int size() {
    return size;
  }

  /** Returns how many items wait. */
  public synchronized int count() {
    return items.size();
  }
}
