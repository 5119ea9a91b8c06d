package io.lifeline.jobs.core.directory;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.Glob;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The emitters that were heard, from the batches of a broker. Time is the broker's, so that rates hold while history is
 * read. Thread-safe.
 */
public final class Directory {
  /** Beyond this the emitters that have been silent for longest are forgotten, those that have ended first. */
  private static final int MOST_EMITTERS = 20_000;
  /** Beyond this the emitters that take most are forgotten: they may claim endless types and answers. */
  private static final long MOST_BYTES = Math.min(256 << 20, Runtime.getRuntime().maxMemory() / 8);
  /** How far ahead times count. Where producers set those of messages they may be any, and would end all rates. */
  private static final long AHEAD_MS = 10_000;

  private final LongSupplier nanoTime;
  private final int mostEmitters;
  private final long mostBytes;
  private final Map<Incarnation, Emitter> emitters = new HashMap<>();
  private long newestMs = Long.MIN_VALUE;
  private long newestAtNs;
  private long bytesKept;

  public Directory() {
    this(System::nanoTime, MOST_EMITTERS, MOST_BYTES);
  }

  Directory(LongSupplier nanoTime, int mostEmitters, long mostBytes) {
    this.nanoTime = nanoTime;
    this.mostEmitters = mostEmitters;
    this.mostBytes = mostBytes;
  }

  /**
   * Adds a batch, and leaves it positioned before its first event. Repeats, and batches that a job derived from others,
   * are left out.
   *
   * @param bytes of the message
   */
  public synchronized void add(BatchReader batch, long brokerTimeMs, int bytes) {
    if (batch.isDerived()) {
      return;
    }
    long atMs = Math.min(Math.max(0, brokerTimeMs), System.currentTimeMillis() + AHEAD_MS);
    if (atMs >= newestMs) {
      newestMs = atMs;
      newestAtNs = nanoTime.getAsLong();
    }
    batch.rewind();
    Emitter emitter = emitters.computeIfAbsent(batch.incarnation(), any -> new Emitter(batch, atMs));
    bytesKept -= emitter.bytesKept();
    emitter.add(batch, atMs, brokerTimeMs, bytes);
    bytesKept += emitter.bytesKept();
    if (emitters.size() > mostEmitters) {
      forget(Comparator.comparing((Emitter one) -> !one.ended()).thenComparing(Emitter::lastMs),
          mostEmitters - mostEmitters / 10, Long.MAX_VALUE);
    }
    if (bytesKept > mostBytes) {
      forget(Comparator.comparing(Emitter::bytesKept).reversed(), mostEmitters, mostBytes - mostBytes / 10);
    }
  }

  /** Forgets the first until so many are left; the limits are below those that led here: the search takes time. */
  private void forget(Comparator<Emitter> order, int most, long mostBytes) {
    for (Emitter emitter : emitters.values().stream().sorted(order).toList()) {
      if (emitters.size() <= most && bytesKept <= mostBytes) {
        return;
      }
      emitters.remove(emitter.incarnation());
      bytesKept -= emitter.bytesKept();
    }
  }

  /** Returns the emitters, the one heard last first. */
  public synchronized List<EmitterRow> rows() {
    long nowMs = nowMs();
    List<EmitterRow> rows = new ArrayList<>(emitters.size());
    emitters.values().forEach(emitter -> rows.add(emitter.row(nowMs)));
    rows.sort(Comparator.comparingLong(EmitterRow::lastMs).reversed());
    return rows;
  }

  /** Returns how much the events of that name pattern would be in full. */
  public synchronized Estimate estimate(Glob type, Glob program, Glob host) {
    long nowMs = nowMs();
    Set<String> types = new HashSet<>();
    int count = 0;
    double events = 0;
    double bytes = 0;
    for (Emitter emitter : emitters.values()) {
      if (emitter.ended() || !program.matches(emitter.program()) || !host.matches(emitter.host())
          || !emitter.addMatching(type, types)) {
        continue;
      }
      count++;
      double perSecond = emitter.perSecond(type, nowMs);
      events += perSecond;
      bytes += perSecond * emitter.bytesPerEvent();
    }
    return new Estimate(count, types.size(), events, bytes);
  }

  /** Returns the broker's time, which goes on between batches. */
  private long nowMs() {
    return newestMs == Long.MIN_VALUE ? 0 : newestMs + (nanoTime.getAsLong() - newestAtNs) / 1_000_000;
  }
}
