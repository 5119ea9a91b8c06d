package io.lifeline.console.web;

import java.io.IOException;
import java.util.concurrent.Semaphore;

/**
 * An answer that does not end: server-sent events.
 *
 * @param places one for each client that may have such a stream at the same time
 * @param work serves one client, on a thread of its own, until the client has gone
 */
record EventStream(Semaphore places, Work work) {

  /** Returns or throws when the stream ends. */
  @FunctionalInterface
  interface Work {
    void serve(EventClient client) throws IOException, InterruptedException;
  }
}
