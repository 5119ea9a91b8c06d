package io.lifeline.jobs.core.bottleneck;

import io.lifeline.codec.BatchReader;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Position;

/** Both stages of the job in one, for a host where one task reads all emitters. */
public final class BottleneckJob implements Job {

  public static final String NAME = "bottleneck";

  private final Sampler sampler;
  private final BottleneckMonitor monitor;

  /** The output of the monitor while the sampler passes samples to it. */
  private Output output;

  public BottleneckJob(BottleneckSettings settings, KeyedState state, Metrics metrics) {
    this.monitor = new BottleneckMonitor(settings, state, metrics);
    this.sampler =
        new Sampler(
            settings, state, metrics, (sample, brokerTimeMs) -> monitor.accept(sample, brokerTimeMs, output));
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public void accept(BatchReader batch, Position position, Output to) {
    output = to;
    sampler.accept(batch, position, to);
  }

  @Override
  public void punctuate(long nowMs, Output to) {
    output = to;
    sampler.punctuate(nowMs, to);
    monitor.punctuate(nowMs, to);
  }

  @Override
  public void save() {
    sampler.save();
    monitor.save();
  }
}
