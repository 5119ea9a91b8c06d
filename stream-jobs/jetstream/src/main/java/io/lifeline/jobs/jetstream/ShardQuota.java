package io.lifeline.jobs.jetstream;

import io.nats.client.JetStreamApiException;
import java.io.IOException;

/** Decides whether this instance should run a task that it could run. Used by the task's thread. */
interface ShardQuota {

  /** For tasks that any instance may run. */
  ShardQuota ALWAYS =
      new ShardQuota() {
        @Override
        public boolean take() {
          return true;
        }

        @Override
        public boolean isOver() {
          return false;
        }

        @Override
        public void end() {}

        @Override
        public void withdraw() {}
      };

  /** Requests the turn; if it returns true, {@link #end} must follow. */
  boolean take() throws IOException, JetStreamApiException;

  /** Returns whether to leave the task to another instance; call it often while the task runs. */
  boolean isOver() throws IOException, JetStreamApiException;

  /** Ends the turn. */
  void end();

  /**
   * Gives up this task for ever, because this instance cannot run it: the others must share all tasks among them. The
   * instance's other turns continue.
   */
  void withdraw() throws IOException, JetStreamApiException;
}
