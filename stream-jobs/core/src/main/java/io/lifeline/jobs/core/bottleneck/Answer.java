package io.lifeline.jobs.core.bottleneck;

import java.util.List;

/**
 * What the job has published of a group, as of some sample.
 *
 * @param component the bottleneck; null for none
 * @param reason of the newest verdict on it, such as {@code slowest}: {@link Verdict.Reason}
 * @param alike for the reason {@code alike}, the components that are too similar, the busiest first
 * @param chance probability of error; 1 without a bottleneck
 * @param changes each published change, the oldest first; empty if there never was a bottleneck
 * @param parts the components since the last change
 */
public record Answer(
    String component, String reason, List<String> alike, double chance, List<Change> changes, List<Part> parts) {

  /** @param component the bottleneck from then on, since the Unix epoch; null for none */
  public record Change(String component, long sinceNs) {}

  /**
   * One component.
   *
   * @param use share of its threads' time spent at work; of unknown threads, the largest possible share; NaN if unknown
   * @param threads mean number of threads of an emitter; 0 if unknown
   */
  public record Part(String component, int samples, double use, double threads) {}

  /** Returns whether nothing was ever published because there were too few samples for it. */
  public boolean isEarly() {
    return component == null && changes.isEmpty() && switch (Verdict.Reason.labelled(reason)) {
      case TOO_LITTLE, SLOWEST, UNEVEN -> true;
      default -> false;
    };
  }

  /** Returns the text of a reason why there is no bottleneck. */
  public String explanation() {
    return switch (Verdict.Reason.labelled(reason)) {
      case TOO_LITTLE -> "too few samples";
      case ALIKE -> String.join(" and ", alike) + " are about as busy";
      case IDLE -> "the threads of each component idle for much of the time";
      case THREADS_UNKNOWN -> "it is unknown how many threads a component has";
      case UNEXPLAINED -> "throughput fell, and nothing that is measured explains it";
      default -> "the answer was not the same for long enough";
    };
  }
}
