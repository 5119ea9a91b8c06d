package io.lifeline.console.web;

import io.javalin.http.Context;
import io.lifeline.console.access.Shares;
import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.io.EndPoint;

/**
 * Reads the bodies of requests. A thread waits for each, so an address gets a share of these threads, and a body that
 * comes too slowly ends its connection.
 */
final class Bodies implements AutoCloseable {
  private static final int MOST = 100;
  private static final int MOST_PER_ADDRESS = 32;
  static final long LIMIT_MS = 15_000;

  private final Shares places = new Shares(MOST, MOST_PER_ADDRESS);
  private final long limitMs;
  private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor(work -> {
    Thread thread = new Thread(work, "lifeline-bodies");
    thread.setDaemon(true);
    return thread;
  });

  /** @param limitMs from the beginning of the reading to the end of the body */
  Bodies(long limitMs) {
    this.limitMs = limitMs;
  }

  /** Returns the body, of which at most one byte is beyond {@code largest}. */
  byte[] read(Context context, int largest) {
    EndPoint connection = ServletContextRequest.getServletContextRequest(context.req()).getConnectionMetaData()
        .getConnection().getEndPoint();
    try (Shares.Place place = places.tryTake(context.ip())) {
      if (place == null) {
        throw new Problem(429, "bodies of other requests are still being received, from " + context.ip()
            + " or in all: send fewer at once");
      }
      ScheduledFuture<?> limit = watch.schedule(() -> connection.close(), limitMs, TimeUnit.MILLISECONDS);
      try {
        return context.bodyInputStream().readNBytes(largest + 1);
      } finally {
        limit.cancel(false);
      }
    } catch (IOException e) {
      throw new Problem(400, "the request's body cannot be read: " + e.getMessage());
    }
  }

  @Override
  public void close() {
    watch.shutdownNow();
  }
}
