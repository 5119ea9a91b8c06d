package io.lifeline.jobs.core.pair;

import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.plan.ByEmitter;
import io.lifeline.jobs.core.plan.JobFactory;
import io.lifeline.jobs.core.plan.Plan;

/** Makes {@link PairJob}s. */
public final class PairFactory implements JobFactory {

  @Override
  public String name() {
    return PairJob.NAME;
  }

  @Override
  public boolean derives() {
    return true;
  }

  @Override
  public Plan plan(JobConfig config, Metrics metrics) {
    PairSettings settings = PairSettings.of(config);
    return new ByEmitter(state -> new PairJob(settings, state, metrics));
  }
}
