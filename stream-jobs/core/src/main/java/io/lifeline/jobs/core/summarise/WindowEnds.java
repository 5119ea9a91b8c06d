package io.lifeline.jobs.core.summarise;

import io.lifeline.jobs.core.RouteKey;
import java.util.HashMap;
import java.util.Map;

/**
 * Notices when an emitter passes the end of a window: the stage that merges all emitters may wait for just that. Keeps
 * nothing durable, since a missed end delays a summary by a second. Used by one thread.
 */
final class WindowEnds {

  private static final long NS_PER_MS = 1_000_000;

  private record Seen(long window, long brokerTimeMs) {}

  private final long windowNs;
  private final long idleMs;
  private final Map<RouteKey, Seen> emitters = new HashMap<>();
  private boolean isPassed;

  WindowEnds(SummariseSettings settings) {
    this.windowNs = settings.windowNs();
    this.idleMs = settings.idleNs() / NS_PER_MS;
  }

  /** Returns whether the emitter has passed the end of the window in which it was last seen. */
  boolean observe(Progress progress) {
    if (progress.isFinal()) {
      emitters.remove(progress.emitter());
      return false;
    }
    long window = Math.floorDiv(progress.newestNs(), windowNs);
    Seen before = emitters.get(progress.emitter());
    boolean passes = before != null && window > before.window();
    long newest = before == null ? window : Math.max(window, before.window());
    emitters.put(progress.emitter(), new Seen(newest, progress.brokerTimeMs()));
    isPassed |= passes;
    return passes;
  }

  /** Returns whether an end was passed since the last {@link #startOver}. */
  boolean isPassed() {
    return isPassed;
  }

  /** Called when the next stage has been sent all that was observed. Forgets emitters that it no longer waits for. */
  void startOver(long nowMs) {
    emitters.values().removeIf(seen -> nowMs - seen.brokerTimeMs() >= idleMs);
    isPassed = false;
  }
}
