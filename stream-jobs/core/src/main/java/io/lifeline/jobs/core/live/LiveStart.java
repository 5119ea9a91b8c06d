package io.lifeline.jobs.core.live;

/**
 * Where reading begins.
 *
 * @param sinceMs with the first message that the broker stored at this time or later, since 1970;
 *     {@link Long#MAX_VALUE} for messages that arrive from now on
 */
public record LiveStart(long sinceMs) {
  public static final LiveStart NOW = new LiveStart(Long.MAX_VALUE);

  public boolean isNow() {
    return sinceMs == Long.MAX_VALUE;
  }
}
