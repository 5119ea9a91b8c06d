package io.lifeline.jobs.core.bottleneck;

import java.util.Arrays;
import java.util.List;

/**
 * Which component is the bottleneck, and why.
 *
 * @param component null if there is no bottleneck
 * @param reason reason for the verdict
 * @param alike for {@link Reason#ALIKE}, the busiest component and those too similar to it, the busiest first
 * @param chance probability of the measurements if the component were not the bottleneck; 1 if there is none
 */
record Verdict(String component, Reason reason, List<String> alike, double chance) {

  /** Reason for a verdict. */
  enum Reason {
    /** The component's threads are at work for most of the time, and for more of it than those of every other. */
    SLOWEST("slowest"),
    /** Throughput fell, but no rate explains it. This component became uneven: part of its time is not measured. */
    UNEVEN("uneven"),
    /** Throughput fell, but no rate explains it and no component became uneven: the bottleneck is not measured. */
    UNEXPLAINED("unexplained"),
    /** Several components are about as busy as the busiest. */
    ALIKE("alike"),
    /** The busiest component has idle threads for too much of the time: the bottleneck is not measured. */
    IDLE("idle"),
    /** A component may be the busiest, but it is unknown how many threads it has: its emitter does not say. */
    THREADS_UNKNOWN("threads_unknown"),
    /** No more samples arrive. */
    SILENT("silent"),
    /** Too few samples since the last change. */
    TOO_LITTLE("too_little");

    private final String label;

    Reason(String label) {
      this.label = label;
    }

    String label() {
      return label;
    }

    static Reason labelled(String label) {
      return Arrays.stream(values()).filter(reason -> reason.label.equals(label)).findFirst().orElseThrow();
    }
  }

  /** Returns whether time passed that is not measured in any component. */
  boolean isOfHiddenTime() {
    return reason == Reason.UNEVEN || reason == Reason.UNEXPLAINED;
  }

  static Verdict of(String component, Reason reason, double chance) {
    return new Verdict(component, reason, List.of(), chance);
  }

  static Verdict none(Reason reason) {
    return new Verdict(null, reason, List.of(), 1);
  }

  static Verdict alike(List<String> components) {
    return new Verdict(null, Reason.ALIKE, components, 1);
  }
}
