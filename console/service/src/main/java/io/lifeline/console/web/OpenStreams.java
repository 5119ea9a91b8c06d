package io.lifeline.console.web;

import io.javalin.http.sse.SseClient;
import io.lifeline.console.access.Access;
import io.lifeline.console.access.Login;
import io.lifeline.console.access.Refusal;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Ends each event stream soon after its client's login ended, with an event {@value #ENDED} that says why. */
final class OpenStreams implements AutoCloseable {
  static final String ENDED = "signed-out";
  private static final long PACE_MS = 500;

  private final Access access;
  private final Set<Open> open = ConcurrentHashMap.newKeySet();
  private final ScheduledExecutorService checks = Executors.newSingleThreadScheduledExecutor(work -> daemon(work));

  OpenStreams(Access access) {
    this.access = access;
    if (access.needsLogin()) {
      checks.scheduleWithFixedDelay(this::check, PACE_MS, PACE_MS, TimeUnit.MILLISECONDS);
    }
  }

  private record Open(SseClient client, Login login) {}

  void add(SseClient client, Login login) {
    if (access.needsLogin()) {
      open.add(new Open(client, login));
    }
  }

  private void check() {
    for (Open stream : open) {
      String ended = stream.client().terminated() ? "" : ended(stream.login());
      if (ended != null) {
        open.remove(stream);
        // A client that does not read would keep all others waiting.
        daemon(() -> end(stream.client(), ended)).start();
      }
    }
  }

  private String ended(Login login) {
    try {
      return access.ended(login);
    } catch (Refusal e) {
      return e.getMessage();
    }
  }

  private static void end(SseClient client, String why) {
    try {
      client.sendEvent(ENDED, Map.of("detail", why + ": sign in again with a token that is valid"));
    } finally {
      client.close();
    }
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "lifeline-stream-login");
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public void close() {
    checks.shutdownNow();
  }
}
