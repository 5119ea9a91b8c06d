package io.lifeline.jobs.archive.report;

import io.lifeline.jobs.core.Timestamps;
import io.lifeline.jobs.core.bottleneck.Answer;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The bottleneck of a group, as the job {@code bottleneck} published it last.
 *
 * @param group what is compared with each other, such as {@code session=...}
 * @param intervalNs length of the samples
 */
public record Bottleneck(String group, long intervalNs, Answer answer) {

  /** Returns the component's name; null for none. */
  public String component() {
    return answer.component();
  }

  /** Returns the last line of the report, without its {@code bottleneck: }. */
  public String sentence() {
    String use = answer.parts().stream().map(Bottleneck::use).collect(Collectors.joining(", "));
    String earlier = earlier();
    if (answer.component() == null) {
      return "none (" + answer.explanation() + (use.isEmpty() ? "" : "; use: " + use) + earlier + ")";
    }
    return String.format(Locale.ROOT, "%s (%s, chance of error %.1g; use: %s%s)", answer.component(), answer.reason(),
        answer.chance(), use, earlier);
  }

  private static String use(Answer.Part part) {
    if (Double.isNaN(part.use())) {
      return part.component() + " unknown";
    }
    double threads = part.threads();
    String of = threads == 0 ? "unknown threads" : threads == 1 ? "1 thread"
        : String.format(Locale.ROOT, threads == Math.rint(threads) ? "%.0f threads" : "%.1f threads", threads);
    return String.format(Locale.ROOT, "%s %.0f %% of %s", part.component(), 100 * part.use(), of);
  }

  /** Returns the earlier answers, if the bottleneck moved. */
  private String earlier() {
    List<Answer.Change> changes = answer.changes();
    if (changes.size() < 2) {
      return "";
    }
    return "; earlier: " + changes.subList(0, changes.size() - 1).stream()
        .map(change -> (change.component() == null ? "none" : change.component()) + " from "
            + Timestamps.iso(change.sinceNs()))
        .collect(Collectors.joining(", ")) + "; since " + Timestamps.iso(changes.get(changes.size() - 1).sinceNs());
  }
}
