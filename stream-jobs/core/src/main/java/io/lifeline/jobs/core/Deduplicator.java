package io.lifeline.jobs.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Tells batches that are new from repeats and from conflicts, per (incarnation, route). It remembers every sequence as
 * runs, for as long as the broker may still deliver a repeat, and the checksums of the newest batches, so that the same
 * sequence with other bytes is told from a repeat. What a broker de-duplicates by itself is only an optimisation.
 */
public final class Deduplicator {

  /** What to do with a batch. */
  public enum Verdict {
    /** First seen now; it is remembered from here on. */
    NEW,
    /** Seen before. */
    DUPLICATE,
    /** Its sequence was seen before with another checksum. */
    CONFLICT,
    /** It would open more gaps than are kept per route; it is not remembered. */
    TOO_MANY_GAPS
  }

  /** Emitters repeat what was in flight; more checksums than that are never asked for. */
  private static final int CHECKSUMS = 64;

  /** A route with more holes than this is broken or hostile, and state must stay bounded. */
  static final int MAX_RUNS = 10_000;

  private static final long EXPIRY_SCAN_MS = 60_000;
  private static final String PREFIX = "dedup/";

  private final KeyedState state;
  private final long retentionMs;
  private final Map<RouteKey, Route> routes = new HashMap<>();
  private final Set<RouteKey> changed = new HashSet<>();
  private long nextExpiryMs;

  /**
   * @param state where {@link #save} keeps the routes; only keys under {@code dedup/} are touched
   * @param retentionMs a route without a new batch for that long is forgotten
   */
  public Deduplicator(KeyedState state, long retentionMs) {
    this.state = state;
    this.retentionMs = retentionMs;
    state.scan(PREFIX, (key, value) -> routes.put(RouteKey.parse(key.substring(PREFIX.length())), Route.decode(value)));
  }

  public Verdict check(RouteKey key, long sequence, int crc, long brokerTimeMs) {
    Route route = routes.computeIfAbsent(key, k -> new Route());
    if (route.seen.contains(sequence)) {
      return route.contradicts(sequence, crc) ? Verdict.CONFLICT : Verdict.DUPLICATE;
    }
    if (route.seen.runs() >= MAX_RUNS && route.seen.opensRun(sequence)) {
      return Verdict.TOO_MANY_GAPS;
    }
    route.seen.add(sequence);
    route.remember(sequence, crc);
    route.lastNewMs = Math.max(route.lastNewMs, brokerTimeMs);
    changed.add(key);
    return Verdict.NEW;
  }

  /** Notes sequences that are known to be dealt with, for example from an archive's manifests. */
  public void seen(RouteKey key, long first, long last, long brokerTimeMs) {
    Route route = routes.computeIfAbsent(key, k -> new Route());
    route.seen.addRun(first, last);
    route.lastNewMs = Math.max(route.lastNewMs, brokerTimeMs);
    changed.add(key);
  }

  /** Forgets the routes that were silent for longer than the retention. Cheap to call often. */
  public void expire(long nowMs) {
    if (nowMs < nextExpiryMs) {
      return;
    }
    nextExpiryMs = nowMs + EXPIRY_SCAN_MS;
    List<RouteKey> silent = new ArrayList<>();
    routes.forEach(
        (key, route) -> {
          if (nowMs - route.lastNewMs > retentionMs) {
            silent.add(key);
          }
        });
    for (RouteKey key : silent) {
      routes.remove(key);
      changed.remove(key);
      state.delete(PREFIX + key);
    }
  }

  /** Writes the routes that changed since the last call into the state. */
  public void save() {
    for (RouteKey key : changed) {
      state.put(PREFIX + key, routes.get(key).encode());
    }
    changed.clear();
  }

  private static final class Route {
    private SequenceSet seen = new SequenceSet();
    private long lastNewMs;
    private final long[] sequences = new long[CHECKSUMS];
    private final int[] checksums = new int[CHECKSUMS];

    void remember(long sequence, int crc) {
      int slot = slot(sequence);
      if (Long.compareUnsigned(sequence, sequences[slot]) > 0) {
        sequences[slot] = sequence;
        checksums[slot] = crc;
      }
    }

    boolean contradicts(long sequence, int crc) {
      int slot = slot(sequence);
      return sequences[slot] == sequence && checksums[slot] != crc;
    }

    private static int slot(long sequence) {
      return (int) (sequence & (CHECKSUMS - 1));
    }

    byte[] encode() {
      StateWriter out = new StateWriter().version(1).varint(lastNewMs);
      seen.encode(out);
      int known = 0;
      for (long sequence : sequences) {
        known += sequence == 0 ? 0 : 1;
      }
      out.varint(known);
      for (int i = 0; i < CHECKSUMS; i++) {
        if (sequences[i] != 0) {
          out.varint(seen.last() - sequences[i]).fixed32(checksums[i]);
        }
      }
      return out.toBytes();
    }

    static Route decode(byte[] bytes) {
      StateReader in = new StateReader(bytes).version(1);
      Route route = new Route();
      route.lastNewMs = in.varint();
      route.seen = SequenceSet.decode(in);
      for (int left = in.count(5); left > 0; left--) {
        route.remember(route.seen.last() - in.varint(), in.fixed32());
      }
      return route;
    }
  }
}
