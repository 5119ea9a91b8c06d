package io.lifeline.jobs.core.directory;

/**
 * How many events would come if all were emitted in full.
 *
 * @param emitters that have emitted such types, and have not ended
 * @param types that match
 * @param eventsPerSecond as in the last minute: emitted, folded into summaries, and excluded by samples and
 *     thresholds; the latter of all types of these emitters, since nobody counts them by type
 * @param bytesPerSecond the same with the mean size of these emitters' events; without compression it may be more
 */
public record Estimate(int emitters, int types, double eventsPerSecond, double bytesPerSecond) {

  /** Returns whether anything is known: what is off is not counted, and emitters may never have emitted a type. */
  public boolean known() {
    return emitters > 0;
  }
}
