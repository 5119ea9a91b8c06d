package io.lifeline.jobs.core;

/**
 * Routes without gaps in their sequences, without checksums, in 32 bytes each and at most as much for free places.
 * Used by one thread.
 */
final class SettledRoutes {

  /** Words of a route: both of the incarnation, the route's number with the second, and the last sequence. */
  private static final int WORDS = 4;

  private static final long MAX_SECOND = 0xffffffffL;

  private long[] table = new long[16 * WORDS];
  private int size;

  int size() {
    return size;
  }

  long bytes() {
    return (long) table.length * Long.BYTES;
  }

  /** Records that the route has the sequences from 1 to the last, of which the newest came at that time. */
  void put(RouteKey key, long last, long timeMs) {
    if (3L * (size + 1) * WORDS > 2L * table.length) {
      copy(Long.MIN_VALUE, Math.multiplyExact(table.length, 2));
    }
    put(table, key.incarnation().high(), key.incarnation().low(), tag(key.route(), second(timeMs)), last);
  }

  private void put(long[] into, long high, long low, long tag, long last) {
    int at = find(into, high, low, (int) (tag >>> 32));
    size += into[at + 3] == 0 ? 1 : 0;
    into[at] = high;
    into[at + 1] = low;
    into[at + 2] = tag;
    into[at + 3] = last;
  }

  /** Returns the last sequence of a route; 0 if it is unknown, or older than that time. */
  long last(RouteKey key, long sinceMs) {
    int at = find(table, key.incarnation().high(), key.incarnation().low(), key.route());
    return timeMs(at) < sinceMs ? 0 : table[at + 3];
  }

  /** Returns when the newest batch of a known route came. */
  long timeMs(RouteKey key) {
    return timeMs(find(table, key.incarnation().high(), key.incarnation().low(), key.route()));
  }

  /** Removes the routes that are older than that time. */
  void expire(long sinceMs) {
    for (int at = 0; at < table.length; at += WORDS) {
      if (table[at + 3] != 0 && timeMs(at) < sinceMs) {
        copy(sinceMs, table.length);
        return;
      }
    }
  }

  private void copy(long sinceMs, int length) {
    long[] former = table;
    long[] copied = new long[length];
    size = 0;
    for (int at = 0; at < former.length; at += WORDS) {
      if (former[at + 3] != 0 && timeMs(at) >= sinceMs) {
        put(copied, former[at], former[at + 1], former[at + 2], former[at + 3]);
      }
    }
    table = copied;
  }

  private long timeMs(int at) {
    return (table[at + 2] & MAX_SECOND) * 1000;
  }

  private static long second(long timeMs) {
    return Math.max(0, Math.min(MAX_SECOND, (timeMs + 999) / 1000));
  }

  private static long tag(int route, long second) {
    return (long) route << 32 | second;
  }

  /** Returns the place of a route, or a free one. */
  private static int find(long[] in, long high, long low, int route) {
    int mask = in.length / WORDS - 1; // the number of places is a power of two
    long mixed = (high * 31 + low + route) * 0x9e3779b97f4a7c15L;
    int place = (int) (mixed ^ mixed >>> 32) & mask;
    while (in[place * WORDS + 3] != 0 && !isAt(in, place * WORDS, high, low, route)) {
      place = place + 1 & mask;
    }
    return place * WORDS;
  }

  private static boolean isAt(long[] in, int at, long high, long low, int route) {
    return in[at] == high && in[at + 1] == low && (int) (in[at + 2] >>> 32) == route;
  }
}
