package io.lifeline.jobs.core.filter;

import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.plan.ByEmitter;
import io.lifeline.jobs.core.plan.JobFactory;
import io.lifeline.jobs.core.plan.Plan;

/** Makes {@link FilterJob}s. */
public final class FilterFactory implements JobFactory {

  @Override
  public String name() {
    return FilterJob.NAME;
  }

  @Override
  public boolean derives() {
    return true;
  }

  @Override
  public Plan plan(JobConfig config, Metrics metrics) {
    FilterSettings settings = FilterSettings.of(config);
    return new ByEmitter(state -> new FilterJob(settings, state, metrics));
  }
}
