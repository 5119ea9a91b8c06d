package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.plan.JobFactory;
import io.lifeline.jobs.core.plan.TwoStagePlan;
import java.util.List;

/** Makes the job bottleneck. */
public final class BottleneckFactory implements JobFactory {

  @Override
  public String name() {
    return BottleneckJob.NAME;
  }

  @Override
  public List<Destination> outputs() {
    return List.of(Destination.ALERTS);
  }

  @Override
  public TwoStagePlan<Sample> plan(JobConfig config, Metrics metrics) {
    return new BottleneckPlan(BottleneckSettings.of(config), metrics);
  }
}
