package io.lifeline.jobs.core.summarise;

import io.lifeline.codec.BatchReader;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Position;

/** Both stages of summarise in one job, for a host where one task reads all emitters. */
public final class SummariseJob implements Job {

  public static final String NAME = "summarise";

  private final PartialAggregator aggregator;
  private final WindowMerger merger;

  public SummariseJob(SummariseSettings settings, KeyedState state, Metrics metrics) {
    this.aggregator = new PartialAggregator(settings, metrics);
    this.merger = new WindowMerger(settings, state, metrics);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public void accept(BatchReader batch, Position position, Output output) {
    PartialAggregator.Result result = aggregator.aggregate(batch, position);
    result.partials().forEach(merger::merge);
    merger.observe(result.progress());
  }

  @Override
  public void punctuate(long nowMs, Output output) {
    merger.punctuate(nowMs, true, output);
  }

  @Override
  public boolean isDue(long nowMs) {
    return merger.isDue(nowMs);
  }

  @Override
  public void save() {
    merger.save();
  }
}
