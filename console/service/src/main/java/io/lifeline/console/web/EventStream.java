package io.lifeline.console.web;

import io.lifeline.console.access.Shares;
import java.io.IOException;

/**
 * An answer that does not end: server-sent events.
 *
 * @param places of the clients that may have such a stream at the same time
 * @param work serves one client, on a thread of its own, until the client has gone
 */
record EventStream(Shares places, Work work) {

  /** Returns or throws when the stream ends. */
  @FunctionalInterface
  interface Work {
    void serve(EventClient client) throws IOException, InterruptedException;
  }
}
