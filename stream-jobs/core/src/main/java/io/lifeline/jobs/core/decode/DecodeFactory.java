package io.lifeline.jobs.core.decode;

import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.plan.ByEmitter;
import io.lifeline.jobs.core.plan.JobFactory;
import io.lifeline.jobs.core.plan.Plan;

/** Makes {@link DecodeJob}s. */
public final class DecodeFactory implements JobFactory {

  @Override
  public String name() {
    return DecodeJob.NAME;
  }

  @Override
  public Plan plan(JobConfig config, Metrics metrics) {
    DecodeSettings settings = DecodeSettings.of(config);
    return new ByEmitter(state -> new DecodeJob(settings, metrics));
  }
}
