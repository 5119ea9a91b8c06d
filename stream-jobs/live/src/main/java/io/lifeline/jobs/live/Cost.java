package io.lifeline.jobs.live;

import io.lifeline.jobs.core.Glob;
import io.lifeline.jobs.core.directory.Directory;
import io.lifeline.jobs.core.directory.Estimate;
import java.util.Locale;

/**
 * What an activation would bring, from the rates of the last minute. A threshold or a level in its line makes it less.
 *
 * @param known whether an emitter has shown such events; what is off is counted by nobody
 * @param text the same as a sentence
 * @param confirm whether somebody should confirm it before it is done: it is much, or not known
 */
public record Cost(boolean known, int emitters, int types, double eventsPerSecond, double bytesPerSecond, String text,
    boolean confirm) {
  /** More events per second than this are much. */
  private static final double MUCH = 10_000;

  public static Cost of(Activation activation, Directory directory) {
    Estimate full = directory.estimate(Glob.of(activation.pattern()), Glob.of(activation.program()),
        Glob.of(activation.host()));
    double share = switch (activation.resolution()) {
      case "full" -> 1;
      case "sample" -> 1.0 / activation.sample();
      default -> 0;
    };
    double events = full.eventsPerSecond() * share;
    double bytes = full.bytesPerSecond() * share;
    String what = activation.pattern() + " " + activation.resolution()
        + (activation.sample() == null ? "" : ":" + activation.sample());
    boolean more = share > 0;
    String text = !more ? what + ": no more events than now"
        : full.known() ? String.format(Locale.ROOT, "%s: at most about %,d events/s from %s, %,.1f MB/s", what,
            rounded(events), full.emitters() == 1 ? "1 emitter" : full.emitters() + " emitters", bytes / 1e6)
        : what + ": how much it brings is not known, since no emitter has shown such events yet";
    return new Cost(full.known() || !more, full.emitters(), full.types(), events, bytes, text,
        more && (!full.known() || events > MUCH));
  }

  /** An estimate is no better than two digits. */
  private static long rounded(double number) {
    double unit = Math.pow(10, Math.max(0, Math.floor(Math.log10(Math.max(1, number))) - 1));
    return (long) (Math.round(number / unit) * unit);
  }
}
