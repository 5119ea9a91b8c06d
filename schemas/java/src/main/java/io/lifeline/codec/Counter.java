package io.lifeline.codec;

import java.util.Locale;

/** The counters that every batch carries, in the order of FORMAT section 3.2. */
public enum Counter {
  EMITTED,
  DROPPED_RING_FULL,
  DROPPED_NO_RING,
  DROPPED_REENTRANT,
  DROPPED_OVERSIZE,
  DROPPED_SHUTDOWN,
  DROPPED_SPOOL_FULL,
  DROPPED_SINK,
  SAMPLED_OUT,
  BELOW_THRESHOLD,
  FOLDED,
  SPOOLED;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** Returns the name as FORMAT writes it, such as {@code dropped_ring_full}. */
  public String label() {
    return label;
  }
}
