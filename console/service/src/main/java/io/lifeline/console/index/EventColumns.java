package io.lifeline.console.index;

import java.util.Arrays;

/**
 * The events in the order of their arrival, one array per column, in a ring of chunks: the oldest chunk makes room
 * for a new one. An event's number is its place in the ring.
 *
 * <p>The events of an object are a list from the last one back. Its links need no repair when a chunk is cleared: a
 * link counts only while it leads to an earlier event of the same object.
 */
final class EventColumns {
  static final int NONE = -1;
  static final int CHUNK = 1 << 16;
  private static final int SHIFT = 16;
  private static final int MASK = CHUNK - 1;

  /** One chunk of all columns. */
  private static final class Chunk {
    final long[] time = new long[CHUNK];
    final int[] type = new int[CHUNK];
    final int[] object = new int[CHUNK];
    final int[] emitter = new int[CHUNK];
    final int[] previous = new int[CHUNK];
  }

  private final Chunk[] chunks;
  private int next;
  private boolean wrapped;

  /** @param limit how many events are kept at least; rounded up to whole chunks, and one more */
  EventColumns(int limit) {
    this.chunks = new Chunk[Math.toIntExact((limit + (long) CHUNK - 1) / CHUNK) + 1];
  }

  /** Returns how many numbers may be in use: all valid ones are below. */
  int end() {
    return wrapped ? chunks.length * CHUNK : next;
  }

  /** Returns the number that the next event gets. */
  int next() {
    return next;
  }

  /** Returns whether the next event begins a chunk that still holds the oldest events. */
  boolean mustClear() {
    return wrapped && (next & MASK) == 0;
  }

  /** Makes room for the next chunk. */
  void clear() {
    Chunk chunk = chunks[next >>> SHIFT];
    Arrays.fill(chunk.object, NONE);
    Arrays.fill(chunk.type, NONE);
  }

  int append(long time, int type, int object, int emitter) {
    int event = next;
    if ((event & MASK) == 0 && chunks[event >>> SHIFT] == null) {
      chunks[event >>> SHIFT] = new Chunk();
      Arrays.fill(chunks[event >>> SHIFT].type, NONE);
    }
    Chunk chunk = chunks[event >>> SHIFT];
    int place = event & MASK;
    chunk.time[place] = time;
    chunk.type[place] = type;
    chunk.object[place] = object;
    chunk.emitter[place] = emitter;
    chunk.previous[place] = NONE;
    next = event + 1 == chunks.length * CHUNK ? 0 : event + 1;
    wrapped |= next == 0;
    return event;
  }

  long time(int event) {
    return chunks[event >>> SHIFT].time[event & MASK];
  }

  /** Returns the type, or {@link #NONE} of a cleared event. */
  int type(int event) {
    return chunks[event >>> SHIFT].type[event & MASK];
  }

  /** Returns the object, or {@link #NONE} of an event that belongs to no object. */
  int object(int event) {
    return chunks[event >>> SHIFT].object[event & MASK];
  }

  int emitter(int event) {
    return chunks[event >>> SHIFT].emitter[event & MASK];
  }

  /** Returns the event before this one of the same object, or {@link #NONE}. */
  int previous(int event) {
    Chunk chunk = chunks[event >>> SHIFT];
    int place = event & MASK;
    int previous = chunk.previous[place];
    if (previous == NONE) {
      return NONE;
    }
    Chunk other = chunks[previous >>> SHIFT];
    int otherPlace = previous & MASK;
    return other.object[otherPlace] == chunk.object[place] && other.time[otherPlace] <= chunk.time[place]
        ? previous : NONE;
  }

  void setPrevious(int event, int previous) {
    chunks[event >>> SHIFT].previous[event & MASK] = previous;
  }
}
