package io.lifeline.jobs.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Marker;

/**
 * Lets a library log a message only once in ten seconds: Kafka's clients report an unreachable broker several times a
 * second. Messages are compared by their text before parameters are filled in. Our own messages always pass.
 */
public final class RepeatFilter extends TurboFilter {

  static final long QUIET_NS = TimeUnit.SECONDS.toNanos(10);

  /**
   * Maximum number of remembered messages; beyond it, repeats pass. Libraries have few messages that are not constants.
   */
  private static final int CAPACITY = 1_000;

  private final LongSupplier clock;
  private final Map<String, Long> lastNs = new ConcurrentHashMap<>();

  public RepeatFilter() {
    this(System::nanoTime);
  }

  RepeatFilter(LongSupplier nanoTime) {
    this.clock = nanoTime;
  }

  @Override
  public FilterReply decide(
      Marker marker, Logger logger, Level level, String format, Object[] parameters, Throwable thrown) {
    boolean isOff = !level.isGreaterOrEqual(logger.getEffectiveLevel());
    if (isOff || format == null || logger.getName().startsWith("io.lifeline.")) {
      return FilterReply.NEUTRAL;
    }
    return isRepeat(logger.getName() + format) ? FilterReply.DENY : FilterReply.NEUTRAL;
  }

  private boolean isRepeat(String message) {
    long now = clock.getAsLong();
    Long last = lastNs.get(message);
    if (last != null && now - last < QUIET_NS) {
      return true;
    }
    if (last != null || lastNs.size() < CAPACITY) {
      lastNs.put(message, now);
    }
    return false;
  }
}
