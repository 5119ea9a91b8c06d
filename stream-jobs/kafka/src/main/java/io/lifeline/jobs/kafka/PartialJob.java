package io.lifeline.jobs.kafka;

import io.lifeline.codec.BatchReader;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.summarise.Aggregate;
import io.lifeline.jobs.core.summarise.Partial;
import io.lifeline.jobs.core.summarise.PartialAggregator;
import io.lifeline.jobs.core.summarise.Progress;
import io.lifeline.jobs.core.summarise.SummariseJob;
import io.lifeline.jobs.core.summarise.SummariseSettings;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The first half of summarise on Kafka: batches are keyed by emitter, summaries by window and key, so a batch becomes
 * partial aggregates that travel to the task that owns their key. Their progress moves that task's watermark; the tasks
 * that got none of a batch are told of an emitter's progress now and then, and of its end.
 */
final class PartialJob implements Job {

  /** The key of a partial that carries progress and nothing else. */
  static final String PROGRESS_ONLY = "";

  private static final long PROGRESS_INTERVAL_MS = 1000;

  private final PartialAggregator aggregator;
  private final Consumer<Partial> next;
  private final Map<RouteKey, Long> toldMs = new HashMap<>();

  PartialJob(SummariseSettings settings, Metrics metrics, Consumer<Partial> next) {
    this.aggregator = new PartialAggregator(settings, metrics);
    this.next = next;
  }

  @Override
  public String name() {
    return SummariseJob.NAME;
  }

  @Override
  public void accept(BatchReader batch, Position position, Output output) {
    PartialAggregator.Result result = aggregator.aggregate(batch, position);
    result.partials().forEach(next);
    if (isProgressDue(result.progress())) {
      next.accept(new Partial(0, PROGRESS_ONLY, new Aggregate(), result.progress()));
    }
  }

  private boolean isProgressDue(Progress progress) {
    if (progress.isFinal()) {
      toldMs.remove(progress.emitter());
      return true;
    }
    Long told = toldMs.get(progress.emitter());
    if (told != null && progress.brokerTimeMs() - told < PROGRESS_INTERVAL_MS) {
      return false;
    }
    toldMs.put(progress.emitter(), progress.brokerTimeMs());
    return true;
  }

  /** Forgets emitters that went silent; the next batch of one that comes back tells its progress at once. */
  @Override
  public void punctuate(long nowMs, Output output) {
    toldMs.values().removeIf(told -> nowMs - told > PROGRESS_INTERVAL_MS);
  }
}
