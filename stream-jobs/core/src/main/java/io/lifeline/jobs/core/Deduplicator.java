package io.lifeline.jobs.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Classifies batches as new, duplicate or conflicting, per (incarnation, route). It keeps all sequences of a route as
 * runs, until the route has been silent for the retention time. For each sequence it also keeps a checksum of four
 * bytes, which distinguishes a duplicate from a different batch with the same sequence. The checksums of recent
 * sequences are in memory; the others are in the state for the retention time and are read on demand. So are routes
 * that are complete or idle ({@link RetiredRoutes}). Deduplication by a broker is only an optimisation.
 *
 * <p>All times are those of a {@link RetentionClock}.
 */
public final class Deduplicator {

  /** What to do with a batch. */
  public enum Result {
    /** Not seen before; it is remembered from now on. */
    NEW,
    /** Seen before. */
    DUPLICATE,
    /** Its sequence was seen before with another checksum. */
    CONFLICT,
    /**
     * Its sequence is known, but the checksum is not: the sequence was recorded by {@link #seen}, or the batch is
     * repeated after more than the retention time.
     */
    UNKNOWN
  }

  /**
   * Maximum number of runs per route, which bounds the state. Beyond it, the shortest runs are forgotten: counting a
   * duplicate twice is better than rejecting an emitter's new batches.
   */
  static final int MAX_RUNS = 10_000;

  /** Number of runs that are then kept: well below the maximum, so that not every further batch triggers a search. */
  private static final int RUNS_LEFT = MAX_RUNS / 4 * 3;

  /** Prefix of the state's keys of checksums that are not in memory. */
  public static final String CHECKSUMS = "dedup-crc/";

  private static final Logger LOG = LoggerFactory.getLogger(Deduplicator.class);
  private static final long EXPIRY_SCAN_MS = 60_000;
  private static final String PREFIX = "dedup/";

  private final KeyedState state;
  private final long retentionMs;
  private final Metrics.Counter forgotten;
  private final StoredChecksums stored;
  private final RetiredRoutes retired;
  private final SettledRoutes settled = new SettledRoutes();
  private final Map<RouteKey, Route> routes = new HashMap<>();
  private final Set<RouteKey> changed = new HashSet<>();
  private long nextExpiryMs;
  private long newestMs;

  public Deduplicator(KeyedState state, long retentionMs) {
    this(state, retentionMs, new Metrics.Counter());
  }

  /**
   * @param state where {@link #save} stores the routes, under keys that start with {@code dedup} or {@code retired}
   * @param retentionMs a route without a new batch for that long is forgotten
   * @param forgotten counts sequences that were forgotten because their route has too many gaps
   */
  Deduplicator(KeyedState state, long retentionMs, Metrics.Counter forgotten) {
    this.state = state;
    this.retentionMs = retentionMs;
    this.forgotten = forgotten;
    this.stored = new StoredChecksums(state, retentionMs);
    this.retired = new RetiredRoutes(state, "dedup", retentionMs);
    state.scan(PREFIX, (key, value) -> routes.put(RouteKey.parse(key.substring(PREFIX.length())), Route.decode(value)));
  }

  public Result check(RouteKey key, long sequence, int crc, long nowMs) {
    newestMs = Math.max(newestMs, nowMs);
    Route route = find(key, nowMs);
    if (route.seen.contains(sequence)) {
      return checkAgain(key, route, sequence, crc);
    }
    checksumsToChange(key, route, sequence, nowMs).put(sequence, crc);
    route.seen.add(sequence);
    hasChanged(key, route, sequence, nowMs);
    return Result.NEW;
  }

  /** As {@link #check}, but without recording a new batch, and only of routes in memory. */
  public Result look(RouteKey key, long sequence, int crc) {
    Route route = routes.get(key);
    if (route == null) {
      long last = settled.last(key, newestMs - retentionMs);
      return sequence != 0 && Long.compareUnsigned(sequence, last) <= 0 ? Result.UNKNOWN : Result.NEW;
    }
    return !route.seen.contains(sequence) ? Result.NEW : checkAgain(key, route, sequence, crc);
  }

  /** Records that a batch just found new is the route's last. */
  public void ends(RouteKey key, long sequence) {
    routes.get(key).finalSequence = sequence;
  }

  /** Returns a route from memory, where it is put if it was retired or is new. */
  private Route find(RouteKey key, long nowMs) {
    return routes.computeIfAbsent(
        key,
        absent -> {
          byte[] value = retired.get(absent);
          Route known = value == null ? settled(absent) : Route.decode(value);
          known.isRetired = value != null;
          return nowMs - known.lastNewMs > retentionMs ? new Route() : known;
        });
  }

  /** Returns what is left of a route that was settled; an empty one if it was not. */
  private Route settled(RouteKey key) {
    Route route = new Route();
    long last = settled.last(key, Long.MIN_VALUE);
    if (last != 0) {
      route.seen.addRun(1, last);
      route.finalSequence = last; // so that it is settled again unless it goes on
      route.lastNewMs = settled.timeMs(key);
    }
    return route;
  }

  private void hasChanged(RouteKey key, Route route, long newest, long nowMs) {
    boundRuns(key, route, newest);
    route.lastNewMs = Math.max(route.lastNewMs, nowMs);
    route.isRetired = false;
    retired.keep(key);
    changed.add(key);
  }

  private Result checkAgain(RouteKey key, Route route, long sequence, int crc) {
    Checksums checksums = route.recent(Checksums.chunkOf(sequence));
    if (checksums == null) {
      checksums = stored(key, route, Checksums.chunkOf(sequence));
    }
    if (!checksums.knows(sequence)) {
      return Result.UNKNOWN;
    }
    return checksums.matches(sequence, crc) ? Result.DUPLICATE : Result.CONFLICT;
  }

  /** Returns the sequence's chunk, for changing; it displaces the least recently changed one from memory. */
  private Checksums checksumsToChange(RouteKey key, Route route, long sequence, long nowMs) {
    long chunk = Checksums.chunkOf(sequence);
    Checksums wanted = route.recent(chunk);
    if (wanted == null) {
      long first = Math.max(1, chunk * Checksums.SIZE);
      boolean mayBeStored = route.seen.containsAny(first, chunk * Checksums.SIZE + Checksums.SIZE - 1);
      wanted = mayBeStored ? stored(key, route, chunk) : new Checksums(chunk);
    }
    Checksums displaced = route.change(wanted);
    if (displaced != null) {
      stored.put(key, displaced, nowMs);
    }
    return wanted;
  }

  /** Reads a chunk from the state. The last one read is cached, since duplicates come in runs. */
  private Checksums stored(RouteKey key, Route route, long chunk) {
    if (route.asked == null || route.asked.chunk() != chunk) {
      Checksums found = stored.get(key, chunk);
      route.asked = found == null ? new Checksums(chunk) : found;
    }
    return route.asked;
  }

  private void boundRuns(RouteKey key, Route route, long newest) {
    if (route.seen.runs() <= MAX_RUNS) {
      return;
    }
    if (forgotten.value() == 0) {
      LOG.warn("emitter {} has more than {} gaps in its sequences: the shortest runs of them are forgotten, so that"
          + " repeats of those count twice; see lifeline_sequences_forgotten_total", key, MAX_RUNS);
    }
    forgotten.add(route.seen.forgetShortest(RUNS_LEFT, newest));
  }

  /** Records sequences that are known to be processed, for example from an archive's manifests. */
  public void seen(RouteKey key, long first, long last, long seenMs) {
    newestMs = Math.max(newestMs, seenMs);
    Route route = find(key, seenMs);
    route.seen.addRun(first, last);
    hasChanged(key, route, last, seenMs);
  }

  /**
   * Forgets routes that have been silent for longer than the retention time; the next {@link #save} retires those that
   * are idle. Cheap to call often.
   */
  public void expire(long nowMs) {
    newestMs = Math.max(newestMs, nowMs);
    stored.expire(nowMs);
    retired.expire(nowMs);
    settled.expire(nowMs - retentionMs);
    if (nowMs < nextExpiryMs) {
      return;
    }
    nextExpiryMs = nowMs + EXPIRY_SCAN_MS;
    List<RouteKey> silent = new ArrayList<>();
    routes.forEach(
        (key, route) -> {
          if (nowMs - route.lastNewMs > retentionMs) {
            silent.add(key);
          } else {
            retireIfDue(key, route);
          }
        });
    for (RouteKey key : silent) {
      routes.remove(key);
      changed.remove(key);
      retired.keep(key);
      state.delete(PREFIX + key);
    }
    routes.values().removeIf(route -> route.isRetired);
  }

  /**
   * Drops the checksums of routes that are complete or idle, and keeps those without gaps in a few bytes: instead of
   * {@link #save}, for an archive, which compares repeated batches with what it has stored.
   */
  public void settle() {
    changed.clear();
    routes.entrySet().removeIf(entry -> {
      Route route = entry.getValue();
      if (!route.isComplete() && newestMs - route.lastNewMs <= RetiredRoutes.IDLE_MS) {
        return false;
      }
      retired.keep(entry.getKey());
      route.dropChecksums();
      if (route.seen.runs() != 1 || route.seen.missing() != 0) {
        return false;
      }
      settled.put(entry.getKey(), route.seen.last(), route.lastNewMs);
      return true;
    });
  }

  /** Returns the number of routes that are in memory in full. */
  public int inMemory() {
    return routes.size();
  }

  /** Returns the bytes of those that are settled. */
  long settledBytes() {
    return settled.bytes();
  }

  private void retireIfDue(RouteKey key, Route route) {
    boolean isIdle = newestMs - route.lastNewMs > RetiredRoutes.IDLE_MS;
    if (!route.isRetired && (isIdle || route.isComplete())) {
      retired.due(key);
    }
  }

  /** Writes the routes that changed since the last call to the state; those that are complete or idle leave memory. */
  public void save() {
    changed.forEach(key -> retireIfDue(key, routes.get(key)));
    retired.save(this::remove, newestMs);
    changed.forEach(key -> state.put(PREFIX + key, routes.get(key).encode()));
    changed.clear();
  }

  private byte[] remove(RouteKey key) {
    changed.remove(key);
    state.delete(PREFIX + key);
    return routes.remove(key).encode();
  }

  private static final class Route {
    private static final int NEWEST = 3;

    private SequenceSet seen = new SequenceSet();
    private long lastNewMs;

    /** Sequence of the route's last batch; 0 if it has not been seen. */
    private long finalSequence;

    /** Whether {@link #retired} has the route as it is: it was repeated since, and has not changed. */
    private boolean isRetired;

    /** The chunk that was changed last. */
    private Checksums newest;

    /** The chunk that was changed before it. */
    private Checksums older;

    /** The chunk that was read last from the state. */
    private Checksums asked;

    /** Returns whether the last batch and all before it have been seen. */
    boolean isComplete() {
      return finalSequence != 0 && seen.last() == finalSequence && seen.size() == finalSequence;
    }

    void dropChecksums() {
      newest = null;
      older = null;
      asked = null;
    }

    Checksums recent(long chunk) {
      if (newest != null && newest.chunk() == chunk) {
        return newest;
      }
      return older != null && older.chunk() == chunk ? older : null;
    }

    /** Makes the chunk the newest; returns the one that it displaces, or null. */
    Checksums change(Checksums chunk) {
      if (asked != null && asked.chunk() == chunk.chunk()) {
        asked = null;
      }
      if (chunk == newest) {
        return null;
      }
      Checksums displaced = chunk == older ? null : older;
      older = newest;
      newest = chunk;
      return displaced;
    }

    byte[] encode() {
      StateWriter out = new StateWriter().version(NEWEST).varint(lastNewMs).varint(finalSequence);
      seen.encode(out);
      List<Checksums> recent = new ArrayList<>();
      if (older != null) {
        recent.add(older);
      }
      if (newest != null) {
        recent.add(newest);
      }
      out.varint(recent.size());
      recent.forEach(checksums -> checksums.encode(out));
      return out.toBytes();
    }

    static Route decode(byte[] bytes) {
      StateReader in = new StateReader(bytes);
      int version = in.versions(1, NEWEST);
      Route route = new Route();
      route.lastNewMs = in.varint();
      route.finalSequence = version < 3 ? 0 : in.varint();
      route.seen = SequenceSet.decode(in);
      if (version == 1) { // the newest sequences, as distances from the last one, unordered
        for (int left = in.count(5); left > 0; left--) {
          long sequence = route.seen.last() - in.varint();
          Checksums chunk = route.recent(Checksums.chunkOf(sequence));
          chunk = chunk == null ? new Checksums(Checksums.chunkOf(sequence)) : chunk;
          route.change(chunk);
          chunk.put(sequence, in.fixed32());
        }
        return route;
      }
      for (int left = in.count(9); left > 0; left--) {
        route.change(Checksums.decode(in));
      }
      return route;
    }
  }
}
