package io.lifeline.jobs.core.bottleneck;

import java.util.List;

/**
 * Which component is the bottleneck, and why.
 *
 * @param component null if none is
 * @param reason how that was found
 * @param alike for {@link Reason#ALIKE}, the slowest and those that are too much like it, the slowest first
 * @param chance the probability of what was seen if the component were none; 1 if there is none
 */
record Verdict(String component, Reason reason, List<String> alike, double chance) {

  /** What led to a verdict. */
  enum Reason {
    /** It moves the fewest bytes per second of work, and is at work for most of the time. */
    SLOWEST("slowest"),
    /** The whole became slower and no component did, but this one became uneven: it hides the time that it takes. */
    UNEVEN("uneven"),
    /** The whole became slower and no component did, or became uneven: what holds it up is not measured. */
    UNEXPLAINED("unexplained"),
    /** Several components are about as slow as the slowest. */
    ALIKE("alike"),
    /** No component is at work for most of the time: what holds things up is not measured. */
    IDLE("idle"),
    /** Nothing comes any more. */
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
  }

  /** Whether time passed that no component's operations account for. */
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
