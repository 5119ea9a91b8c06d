package io.lifeline.jobs.core.summarise;

import io.lifeline.jobs.core.RouteKey;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Notices when the last emitter passes the end of a window: the stage that merges all emitters may wait for just that.
 * Others that pass it let nothing become due; with thousands of emitters they would make hosts commit all the time.
 * Keeps nothing durable, since a missed end delays a summary by a second. Used by one thread.
 */
final class WindowEnds {

  private static final long NS_PER_MS = 1_000_000;

  private record Seen(long window, long brokerTimeMs) {}

  private final long windowNs;
  private final long idleMs;
  private final Map<RouteKey, Seen> emitters = new HashMap<>();
  /** The number of emitters by the newest window in which they were seen. */
  private final TreeMap<Long, Integer> windows = new TreeMap<>();

  private boolean isPassed;

  WindowEnds(SummariseSettings settings) {
    this.windowNs = settings.windowNs();
    this.idleMs = settings.idleNs() / NS_PER_MS;
  }

  /** Returns whether this emitter has passed the end of the window in which it was last seen. */
  boolean observe(Progress progress) {
    long least = windows.isEmpty() ? Long.MAX_VALUE : windows.firstKey();
    Seen before = emitters.remove(progress.emitter());
    if (before != null) {
      leave(before);
    }
    boolean passes = false;
    if (!progress.isFinal()) {
      long window = Math.floorDiv(progress.newestNs(), windowNs);
      passes = before != null && window > before.window();
      long newest = before == null ? window : Math.max(window, before.window());
      emitters.put(progress.emitter(), new Seen(newest, progress.brokerTimeMs()));
      windows.merge(newest, 1, Integer::sum);
    }
    isPassed |= !windows.isEmpty() && windows.firstKey() > least;
    return passes;
  }

  /** Returns whether all emitters have passed an end since the last {@link #startOver}. */
  boolean isPassed() {
    return isPassed;
  }

  /** Called when the next stage has been sent all that was observed. Forgets emitters that it no longer waits for. */
  void startOver(long nowMs) {
    emitters.values().removeIf(seen -> {
      boolean isIdle = nowMs - seen.brokerTimeMs() >= idleMs;
      if (isIdle) {
        leave(seen);
      }
      return isIdle;
    });
    isPassed = false;
  }

  private void leave(Seen seen) {
    windows.computeIfPresent(seen.window(), (window, count) -> count == 1 ? null : count - 1);
  }
}
