package io.lifeline.jobs.core.summarise;

import io.lifeline.codec.BatchReader;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.plan.TwoStagePlan.Next;
import java.util.HashMap;
import java.util.Map;

/**
 * The first stage of summarise: batches are partitioned by emitter, summaries by key, so a batch becomes partial
 * aggregates for the tasks that own their keys. Their progress advances those tasks' watermarks. All tasks are also
 * sent each emitter's progress when it has passed the end of a window, at intervals, and when it ends, since they may
 * receive none of its partials.
 */
final class PartialJob implements Job {

  /** The key of a partial that carries only progress. */
  static final String PROGRESS_ONLY = "";

  private static final long PROGRESS_INTERVAL_MS = 1000;

  private final PartialAggregator aggregator;
  private final Next<Partial> next;
  private final Map<RouteKey, Long> toldMs = new HashMap<>();
  private final WindowEnds ends;

  PartialJob(SummariseSettings settings, Metrics metrics, Next<Partial> next) {
    this.aggregator = new PartialAggregator(settings, metrics);
    this.next = next;
    this.ends = new WindowEnds(settings);
  }

  @Override
  public String name() {
    return SummariseJob.NAME;
  }

  @Override
  public void accept(BatchReader batch, Position position, Output output) {
    PartialAggregator.Result result = aggregator.aggregate(batch, position);
    Progress progress = result.progress();
    result.partials().forEach(partial -> next.pass(partial, progress.brokerTimeMs()));
    if (isProgressDue(progress)) {
      next.pass(new Partial(0, PROGRESS_ONLY, new Aggregate(), progress), progress.brokerTimeMs());
    }
  }

  private boolean isProgressDue(Progress progress) {
    boolean passes = ends.observe(progress);
    if (progress.isFinal()) {
      toldMs.remove(progress.emitter());
      return true;
    }
    Long told = toldMs.get(progress.emitter());
    if (told != null && !passes && progress.brokerTimeMs() - told < PROGRESS_INTERVAL_MS) {
      return false;
    }
    toldMs.put(progress.emitter(), progress.brokerTimeMs());
    return true;
  }

  /** Returns whether the second stage may wait for what was passed on. */
  @Override
  public boolean isDue(long nowMs) {
    return ends.isPassed();
  }

  /** Forgets silent emitters; when one resumes, its progress is sent at once. */
  @Override
  public void punctuate(long nowMs, Output output) {
    ends.startOver(nowMs);
    toldMs.values().removeIf(told -> nowMs - told > PROGRESS_INTERVAL_MS);
  }
}
