package io.lifeline.jobs.jetstream;

import io.nats.client.JetStreamApiException;
import java.io.IOException;

/** Whether it is an instance's turn to do a task that it could do. Used by the task's thread. */
interface Turn {

  /** For tasks that whoever comes first may do. */
  Turn ALWAYS =
      new Turn() {
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
      };

  /** Asks for it; true if it was given, and then {@link #end} must follow. */
  boolean take() throws IOException, JetStreamApiException;

  /** Whether the task should be left to another instance; to be asked often while it is done. */
  boolean isOver() throws IOException, JetStreamApiException;

  /** Gives it back. */
  void end();
}
