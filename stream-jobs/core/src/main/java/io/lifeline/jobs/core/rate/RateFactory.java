package io.lifeline.jobs.core.rate;

import io.lifeline.jobs.core.FieldSelector;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.lifeline.jobs.core.plan.ByEmitter;
import io.lifeline.jobs.core.plan.JobFactory;
import io.lifeline.jobs.core.plan.Plan;
import java.util.List;

/** Makes {@link RateJob}s. */
public final class RateFactory implements JobFactory {

  @Override
  public String name() {
    return RateJob.NAME;
  }

  @Override
  public boolean derives() {
    return true;
  }

  @Override
  public Plan plan(JobConfig config, Metrics metrics) {
    List<String> fields = config.get(Keys.RATE_OF);
    List<FieldSelector> selectors = fields.stream().map(FieldSelector::parse).toList();
    String stream = config.derivedStream(Keys.RATE_TO);
    long retentionMs = config.get(Keys.RETENTION).toMillis();
    return new ByEmitter(state -> new RateJob(selectors, fields.toString(), stream, retentionMs, state, metrics));
  }
}
