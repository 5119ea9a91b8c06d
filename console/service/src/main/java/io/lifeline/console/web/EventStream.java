package io.lifeline.console.web;

import io.javalin.http.sse.SseClient;
import io.lifeline.console.access.Login;
import io.lifeline.console.access.Role;

/** A stream of server-sent events. It ends when the login of its client does. */
interface EventStream {
  /** Returns its path below {@code /api/v1}. */
  String path();

  /** Returns the role that a client needs. */
  default Role role() {
    return Role.VIEW;
  }

  /** Serves one client, on a thread of the server; keeps the client, or the stream ends. */
  void serve(SseClient client, Login login);
}
