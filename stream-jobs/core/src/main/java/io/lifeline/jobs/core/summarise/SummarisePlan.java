package io.lifeline.jobs.core.summarise;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.plan.TwoStagePlan;
import java.util.Optional;
import java.util.function.LongSupplier;

/** Plan of summarise, which merges partial aggregates with equal window and key into one summary. */
record SummarisePlan(SummariseSettings settings, Metrics metrics) implements TwoStagePlan<Partial> {

  @Override
  public Job whole(KeyedState state) {
    return new SummariseJob(settings, state, metrics);
  }

  @Override
  public String parts() {
    return "partials";
  }

  @Override
  public String second() {
    return "merge";
  }

  @Override
  public long idleNs() {
    return settings.idleNs();
  }

  @Override
  public Job first(KeyedState state, Next<Partial> next) {
    return new PartialJob(settings, metrics, next);
  }

  @Override
  public SecondStage<Partial> second(KeyedState state) {
    WindowMerger merger = new WindowMerger(settings, state, metrics);
    return new SecondStage<>() {
      @Override
      public void accept(Partial partial, long brokerTimeMs, Output output) {
        if (!isForAll(partial.key())) {
          merger.merge(partial);
        }
        merger.observe(partial.progress());
      }

      @Override
      public void punctuate(long nowMs, boolean isComplete, Output output) {
        merger.punctuate(nowMs, isComplete, output);
      }

      @Override
      public boolean isDue(long nowMs) {
        return merger.isDue(nowMs);
      }

      @Override
      public void save() {
        merger.save();
      }
    };
  }

  @Override
  public String key(Partial partial) {
    return partial.key();
  }

  @Override
  public boolean isForAll(String key) {
    return key.equals(PartialJob.PROGRESS_ONLY);
  }

  @Override
  public byte[] toBytes(Partial partial) {
    return partial.toBytes();
  }

  @Override
  public Partial fromBytes(byte[] bytes) {
    return Partial.fromBytes(bytes);
  }

  @Override
  public Optional<Grouped> grouped(int groups) {
    return Optional.of(new Grouped() {
      @Override
      public Destination between() {
        return Destination.PARTIALS;
      }

      @Override
      public Job first(int group, KeyedState state, String life) {
        return new ShareJob(settings, life, groups, group, state, metrics);
      }

      @Override
      public Merger second(KeyedState state, String life, LongSupplier nanoTime) {
        return new ShareMerger(settings, life, groups, state, nanoTime, metrics);
      }
    });
  }
}
