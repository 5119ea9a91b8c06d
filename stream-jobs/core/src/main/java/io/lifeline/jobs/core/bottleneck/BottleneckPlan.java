package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.plan.TwoStagePlan;

/** Plan of bottleneck, which turns the samples of a group into alerts. */
record BottleneckPlan(BottleneckSettings settings, Metrics metrics) implements TwoStagePlan<Sample> {

  @Override
  public Job whole(KeyedState state) {
    return new BottleneckJob(settings, state, metrics);
  }

  @Override
  public String parts() {
    return "samples";
  }

  @Override
  public String second() {
    return "monitor";
  }

  @Override
  public long idleNs() {
    return settings.idleNs();
  }

  @Override
  public Job first(KeyedState state, Next<Sample> next) {
    return new Sampler(settings, state, metrics, next);
  }

  @Override
  public SecondStage<Sample> second(KeyedState state) {
    BottleneckMonitor monitor = new BottleneckMonitor(settings, state, metrics);
    return new SecondStage<>() {
      @Override
      public void accept(Sample sample, long brokerTimeMs, Output output) {
        monitor.accept(sample, brokerTimeMs, output);
      }

      @Override
      public void punctuate(long nowMs, boolean isComplete, Output output) {
        monitor.punctuate(nowMs, output);
      }

      @Override
      public void save() {
        monitor.save();
      }
    };
  }

  @Override
  public String key(Sample sample) {
    return sample.group();
  }

  @Override
  public byte[] toBytes(Sample sample) {
    return sample.toBytes();
  }

  @Override
  public Sample fromBytes(byte[] bytes) {
    return Sample.fromBytes(bytes);
  }
}
