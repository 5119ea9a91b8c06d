package io.lifeline.console.web;

import io.javalin.http.sse.SseClient;

/** A stream of server-sent events. */
interface EventStream {
  /** Returns its path below {@code /api/v1}. */
  String path();

  /** Serves one client, on a thread of the server; keeps the client, or the stream ends. */
  void serve(SseClient client);
}
