package io.lifeline.console.web;

import io.lifeline.console.index.Durations;
import io.lifeline.console.index.Span;
import io.lifeline.console.index.StepPercentiles;
import io.lifeline.console.index.Steps;
import io.lifeline.console.index.TraceIndex;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** How long steps take, over time, of the events in the index: of an archive and of a broker alike. */
public final class SummaryOperations implements Operations {
  private static final int MOST_PARTS = 400;
  private static final Parameter<Integer> MOST = Parameter.integer("n", "how many kinds of steps", 1, 100, 24);
  private static final Parameter<Integer> PARTS =
      Parameter.integer("parts", "into how many equal parts the span is divided", 1, MOST_PARTS, 40);

  private final TraceIndex index;

  public SummaryOperations(TraceIndex index) {
    this.index = index;
  }

  @Override
  public List<Operation> all() {
    return List.of(Operation.get("/summaries", "Percentiles of the durations of steps over time, for the kinds of"
        + " steps that take the most time", Summaries.class, this::summaries, Parameters.FROM, Parameters.TO, PARTS,
        MOST));
  }

  /**
   * The steps of one kind.
   *
   * @param a type at the beginning of the step
   * @param b type at its end
   * @param part the parts of the span with a step, for which the percentiles are
   */
  record Summary(int a, int b, long count, double totalNs, long maxNs, int[] part, long[] p50, long[] p90,
      long[] p99) {}

  /** @param oneIn percentiles are those of one in so many events */
  record Summaries(int parts, int oneIn, List<Summary> rows) {}

  private Summaries summaries(Call call) {
    Span span = Parameters.span(call);
    int parts = call.get(PARTS);
    StepPercentiles.Found found = StepPercentiles.of(index, span, call.get(MOST), parts);
    List<Summary> rows = new ArrayList<>();
    for (StepPercentiles.Row row : found.rows()) {
      Steps.Kind kind = row.kind();
      List<Durations> durations = row.durations();
      int[] filled = IntStream.range(0, parts).filter(i -> durations.get(i).sorted().length > 0)
          .toArray();
      rows.add(new Summary(kind.from(), kind.to(), kind.count(), kind.totalNs(), kind.maxNs(), filled,
          quantiles(durations, filled, 0.5), quantiles(durations, filled, 0.9), quantiles(durations, filled, 0.99)));
    }
    return new Summaries(parts, found.oneIn(), rows);
  }

  private static long[] quantiles(List<Durations> durations, int[] parts, double share) {
    long[] quantiles = new long[parts.length];
    for (int i = 0; i < parts.length; i++) {
      quantiles[i] = durations.get(parts[i]).quantile(share);
    }
    return quantiles;
  }
}
