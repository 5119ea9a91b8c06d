package io.lifeline.jobs.kafka;

import java.time.Duration;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ProcessorContext;

/**
 * Runs a task's action before the second is over, when it has been asked for. All tasks act at the same moments, ten a
 * second, so that one commit serves those of a thread. Used by the task's thread.
 */
final class SharedMoments {

  private static final long PERIOD_MS = 100;

  /** Older messages are a backlog's: nobody waits for their windows, and commits would slow it down. */
  private static final long BACKLOG_MS = 10_000;

  private final ProcessorContext<?, ?> context;
  private final Runnable action;
  private Cancellable next;

  SharedMoments(ProcessorContext<?, ?> context, Runnable action) {
    this.context = context;
    this.action = action;
  }

  /**
   * Asks for the action at the next moment, unless that was done before.
   *
   * @param brokerTimeMs of the message that is the reason
   */
  void ask(long brokerTimeMs) {
    if (next == null && context.currentSystemTimeMs() - brokerTimeMs < BACKLOG_MS) {
      long untilMs = PERIOD_MS - System.currentTimeMillis() % PERIOD_MS;
      next = context.schedule(Duration.ofMillis(untilMs), PunctuationType.WALL_CLOCK_TIME, this::act);
    }
  }

  private void act(long nowMs) {
    next.cancel();
    next = null;
    action.run();
  }
}
