package io.lifeline.jobs.core.plan;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.JobConfig;
import java.util.List;

/** One kind of job, for any host. {@link io.lifeline.jobs.core.all.AllJobs} lists them. */
public interface JobFactory {

  /** The job's name in {@code jobs}, in message ids and in metrics. */
  String name();

  /** Topics that must exist before the job starts; those of event types and derived streams are not among them. */
  default List<Destination> outputs() {
    return List.of();
  }

  /** Whether the job writes derived streams. */
  default boolean derives() {
    return false;
  }

  /**
   * Reads the job's settings. Called once per host, at the start, so that errors appear there and not in a task.
   *
   * @throws ConfigException if a setting is invalid
   */
  Plan plan(JobConfig config, Metrics metrics);
}
