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
 * Tells batches that are new from repeats and from conflicts, per (incarnation, route), for as long as the broker may
 * still deliver a repeat. It remembers every sequence as runs, and four bytes for each: its checksum, so that the same
 * sequence with other bytes is told from a repeat however late it comes. Those of the sequences that were new lately
 * are in memory; the others lie in the state, 64 to a value, and are read when one is asked for. What a broker
 * de-duplicates by itself is only an optimisation.
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
     * Its sequence counts as dealt with, but no checksum says with which bytes: it was {@link #seen}, or it belongs
     * into one of its route's oldest gaps, which were given up.
     */
    UNKNOWN
  }

  /** A route with more gaps than this loses its oldest ones: state must stay bounded, and emitters must be heard. */
  static final int MAX_RUNS = 10_000;

  /** Where the checksums are that are not in memory: a key per route and chunk. */
  public static final String CHECKSUMS = "dedup-crc/";

  private static final Logger LOG = LoggerFactory.getLogger(Deduplicator.class);
  private static final long EXPIRY_SCAN_MS = 60_000;
  private static final String PREFIX = "dedup/";

  private final KeyedState state;
  private final long retentionMs;
  private final Metrics.Counter givenUp;
  private final Map<RouteKey, Route> routes = new HashMap<>();
  private final Set<RouteKey> changed = new HashSet<>();
  private long nextExpiryMs;

  public Deduplicator(KeyedState state, long retentionMs) {
    this(state, retentionMs, new Metrics.Counter());
  }

  /**
   * @param state where {@link #save} keeps the routes; only keys under {@code dedup/} and {@link #CHECKSUMS} are
   * touched
   * @param retentionMs a route without a new batch for that long is forgotten
   * @param givenUp counts gaps that were given up
   */
  Deduplicator(KeyedState state, long retentionMs, Metrics.Counter givenUp) {
    this.state = state;
    this.retentionMs = retentionMs;
    this.givenUp = givenUp;
    state.scan(PREFIX, (key, value) -> routes.put(RouteKey.parse(key.substring(PREFIX.length())), Route.decode(value)));
  }

  public Verdict check(RouteKey key, long sequence, int crc, long brokerTimeMs) {
    Route route = routes.computeIfAbsent(key, k -> new Route());
    if (route.seen.contains(sequence)) {
      return checkAgain(key, route, sequence, crc);
    }
    checksumsToChange(key, route, sequence).put(sequence, crc);
    if (route.seen.contains(sequence - 1)) {
      route.growing = sequence;
    }
    route.seen.add(sequence);
    boundGaps(key, route);
    route.lastNewMs = Math.max(route.lastNewMs, brokerTimeMs);
    changed.add(key);
    return Verdict.NEW;
  }

  private Verdict checkAgain(RouteKey key, Route route, long sequence, int crc) {
    Checksums checksums = route.recent(Checksums.chunkOf(sequence));
    if (checksums == null) {
      checksums = stored(key, route, Checksums.chunkOf(sequence));
    }
    if (checksums != null && checksums.knows(sequence)) {
      return checksums.matches(sequence, crc) ? Verdict.DUPLICATE : Verdict.CONFLICT;
    }
    return Long.compareUnsigned(sequence, route.withoutChecksumUpTo) <= 0 ? Verdict.DUPLICATE : Verdict.UNKNOWN;
  }

  /** Those that take the place of the ones that were not changed for longest. */
  private Checksums checksumsToChange(RouteKey key, Route route, long sequence) {
    long chunk = Checksums.chunkOf(sequence);
    Checksums wanted = route.recent(chunk);
    if (wanted == null) {
      long first = Math.max(1, chunk * Checksums.SIZE);
      boolean mayBeStored = route.seen.containsAny(first, chunk * Checksums.SIZE + Checksums.SIZE - 1);
      wanted = mayBeStored ? stored(key, route, chunk) : null;
      wanted = wanted == null ? new Checksums(chunk) : wanted;
    }
    Checksums displaced = route.change(wanted);
    if (displaced != null) {
      StateWriter out = new StateWriter().version(1);
      displaced.encode(out);
      state.put(checksumKey(key, displaced.chunk()), out.toBytes());
    }
    return wanted;
  }

  /** Repeats come in runs: the last chunk that was asked for is kept. */
  private Checksums stored(RouteKey key, Route route, long chunk) {
    if (route.asked == null || route.asked.chunk() != chunk) {
      byte[] bytes = state.get(checksumKey(key, chunk));
      route.asked = bytes == null ? new Checksums(chunk) : Checksums.decode(new StateReader(bytes).version(1));
    }
    return route.asked;
  }

  private static String checksumKey(RouteKey key, long chunk) {
    return checksumPrefix(key) + chunk;
  }

  private static String checksumPrefix(RouteKey key) {
    return CHECKSUMS + key + "/";
  }

  private void boundGaps(RouteKey key, Route route) {
    while (route.seen.runs() > MAX_RUNS) {
      route.seen.fillOldestGap(route.growing);
      if (givenUp.value() == 0) {
        LOG.warn("emitter {} has more than {} gaps in its sequences: the oldest are given up, and what comes late for"
            + " them is rejected; lifeline_gaps_given_up_total counts them", key, MAX_RUNS);
      }
      givenUp.increment();
    }
  }

  /** Notes sequences that are known to be dealt with, for example from an archive's manifests. */
  public void seen(RouteKey key, long first, long last, long brokerTimeMs) {
    Route route = routes.computeIfAbsent(key, k -> new Route());
    route.seen.addRun(first, last);
    boundGaps(key, route);
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
      state.deleteAll(checksumPrefix(key));
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

    /** The last sequence that came next after another one. */
    private long growing;

    /** The checksums of two chunks, the one that was changed last first. */
    private Checksums newest;

    private Checksums older;

    /** What was read from the state last. */
    private Checksums asked;

    /** An earlier program kept few checksums: of sequences up to here they may be missing. */
    private long withoutChecksumUpTo;

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
      out.varint(growing).varint(withoutChecksumUpTo);
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
      if (version == 1) {
        route.withoutChecksumUpTo = route.seen.last();
        return route;
      }
      route.growing = in.varint();
      route.withoutChecksumUpTo = in.varint();
      for (int left = in.count(9); left > 0; left--) {
        route.change(Checksums.decode(in));
      }
      return route;
    }
  }
}
