package io.lifeline.jobs.core.summarise;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.plan.JobFactory;
import io.lifeline.jobs.core.plan.TwoStagePlan;
import java.util.List;

/** Makes the job summarise. */
public final class SummariseFactory implements JobFactory {

  @Override
  public String name() {
    return SummariseJob.NAME;
  }

  @Override
  public List<Destination> outputs() {
    return List.of(Destination.SUMMARIES);
  }

  @Override
  public TwoStagePlan<Partial> plan(JobConfig config, Metrics metrics) {
    return new SummarisePlan(SummariseSettings.of(config), metrics);
  }
}
