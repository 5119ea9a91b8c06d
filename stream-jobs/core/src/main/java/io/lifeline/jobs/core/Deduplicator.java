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
 * Tells batches that are new from repeats and from conflicts, per (incarnation, route). It remembers every sequence as
 * runs, as long as the route is not silent for the retention, and four bytes for each: its checksum, so that the same
 * sequence with other bytes is told from a repeat. Those of the sequences that were new lately are in memory; the
 * others lie in the state for the retention, and are read when one is asked for. What a broker de-duplicates by itself
 * is only an optimisation.
 *
 * <p>All times are those of a {@link RetentionClock}.
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
    /**
     * Its sequence is known, but no checksum says with which bytes: it was {@link #seen}, or it comes again after more
     * than the retention.
     */
    UNKNOWN
  }

  /**
   * A route with more gaps than this has its shortest runs of sequences forgotten: state must stay bounded, and what is
   * new must be heard, so rather a repeat of one of these counts twice than that an emitter is silenced.
   */
  static final int MAX_RUNS = 10_000;

  /** So many are left then, or each further batch would have the shortest run looked for. */
  private static final int RUNS_LEFT = MAX_RUNS / 4 * 3;

  /** Where in the state the checksums are that are not in memory. */
  public static final String CHECKSUMS = "dedup-crc/";

  private static final Logger LOG = LoggerFactory.getLogger(Deduplicator.class);
  private static final long EXPIRY_SCAN_MS = 60_000;
  private static final String PREFIX = "dedup/";

  private final KeyedState state;
  private final long retentionMs;
  private final Metrics.Counter forgotten;
  private final StoredChecksums stored;
  private final Map<RouteKey, Route> routes = new HashMap<>();
  private final Set<RouteKey> changed = new HashSet<>();
  private long nextExpiryMs;

  public Deduplicator(KeyedState state, long retentionMs) {
    this(state, retentionMs, new Metrics.Counter());
  }

  /**
   * @param state where {@link #save} keeps the routes; only keys that start with {@code dedup} are touched
   * @param retentionMs a route without a new batch for that long is forgotten
   * @param forgotten counts sequences that were forgotten because their route has too many gaps
   */
  Deduplicator(KeyedState state, long retentionMs, Metrics.Counter forgotten) {
    this.state = state;
    this.retentionMs = retentionMs;
    this.forgotten = forgotten;
    this.stored = new StoredChecksums(state, retentionMs);
    state.scan(PREFIX, (key, value) -> routes.put(RouteKey.parse(key.substring(PREFIX.length())), Route.decode(value)));
  }

  public Verdict check(RouteKey key, long sequence, int crc, long nowMs) {
    Route route = routes.computeIfAbsent(key, k -> new Route());
    if (route.seen.contains(sequence)) {
      return checkAgain(key, route, sequence, crc);
    }
    checksumsToChange(key, route, sequence, nowMs).put(sequence, crc);
    route.seen.add(sequence);
    boundRuns(key, route, sequence);
    route.lastNewMs = Math.max(route.lastNewMs, nowMs);
    changed.add(key);
    return Verdict.NEW;
  }

  private Verdict checkAgain(RouteKey key, Route route, long sequence, int crc) {
    Checksums checksums = route.recent(Checksums.chunkOf(sequence));
    if (checksums == null) {
      checksums = stored(key, route, Checksums.chunkOf(sequence));
    }
    if (!checksums.knows(sequence)) {
      return Verdict.UNKNOWN;
    }
    return checksums.matches(sequence, crc) ? Verdict.DUPLICATE : Verdict.CONFLICT;
  }

  /** Those that take the place of the ones that were not changed for longest. */
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

  /** Repeats come in runs: the last chunk that was asked for is kept. */
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
          + " repeats of those count twice; lifeline_sequences_forgotten_total counts them", key, MAX_RUNS);
    }
    forgotten.add(route.seen.forgetShortest(RUNS_LEFT, newest));
  }

  /** Notes sequences that are known to be dealt with, for example from an archive's manifests. */
  public void seen(RouteKey key, long first, long last, long seenMs) {
    Route route = routes.computeIfAbsent(key, k -> new Route());
    route.seen.addRun(first, last);
    boundRuns(key, route, last);
    route.lastNewMs = Math.max(route.lastNewMs, seenMs);
    changed.add(key);
  }

  /** Forgets the routes that were silent for longer than the retention. Cheap to call often. */
  public void expire(long nowMs) {
    stored.expire(nowMs);
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

    /** The checksums of two chunks, the one that was changed last first. */
    private Checksums newest;

    private Checksums older;

    /** What was read from the state last. */
    private Checksums asked;

    Checksums recent(long chunk) {
      if (newest != null && newest.chunk() == chunk) {
        return newest;
      }
      return older != null && older.chunk() == chunk ? older : null;
    }

    /** Puts the chunk first; returns the one that it displaces, or null. */
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
      StateWriter out = new StateWriter().version(2).varint(lastNewMs);
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
      int version = in.versionUpTo(2);
      Route route = new Route();
      route.lastNewMs = in.varint();
      route.seen = SequenceSet.decode(in);
      if (version == 1) { // the newest sequences, counted from the last one, in no order
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
