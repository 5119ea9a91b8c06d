package io.lifeline.jobs.core.plan;

import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import java.util.function.Function;

/**
 * A job that needs no more than the batches of one emitter at a time, so that any task may have any emitters.
 *
 * @param job makes the job over a task's state
 * @param shared closed with the plan; null if the jobs share nothing
 */
public record ByEmitter(Function<KeyedState, Job> job, Runnable shared) implements Plan {

  public ByEmitter(Function<KeyedState, Job> job) {
    this(job, null);
  }

  @Override
  public void close() {
    if (shared != null) {
      shared.run();
    }
  }
}
