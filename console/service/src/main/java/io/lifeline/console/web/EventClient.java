package io.lifeline.console.web;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.javalin.http.Context;
import io.lifeline.console.access.Shares;
import jakarta.servlet.AsyncContext;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One browser or program that receives server-sent events. Used by one thread. */
final class EventClient {
  static final String SIGNED_OUT = "signed-out";
  private static final Logger LOG = LoggerFactory.getLogger(EventClient.class);
  /** Busy streams do not ask for each event. */
  private static final long CHECK_NS = 400_000_000;

  private final Context context;
  private final ObjectMapper json;
  private final Supplier<String> ended;
  private final ByteArrayOutputStream waiting = new ByteArrayOutputStream();
  private long checkedNs = System.nanoTime();

  private EventClient(Context context, ObjectMapper json, Supplier<String> ended) {
    this.context = context;
    this.json = json;
    this.ended = ended;
  }

  /**
   * Answers a request with a stream.
   *
   * @param unreadMs the connection is closed if the client reads nothing for so long although something waits for it
   * @param ended says why the client's login is over; null while it is not
   * @param caller who gets a share of the places; null for somebody who may have all
   */
  static void start(Context context, EventStream stream, ObjectMapper json, long unreadMs, Supplier<String> ended,
      String caller) {
    Shares.Place place = stream.places().tryTake(caller);
    if (place == null) {
      throw new Problem(503, "as many clients follow this stream as the console serves, in all or for one caller: close"
          + " some, and try again");
    }
    context.contentType("text/event-stream").header("Cache-Control", "no-cache").header("X-Accel-Buffering", "no");
    // The time-out of a connection ends a write that makes no progress.
    ServletContextRequest.getServletContextRequest(context.req()).getConnectionMetaData().getConnection().getEndPoint()
        .setIdleTimeout(unreadMs);
    context.future(() -> {
      AsyncContext answer = context.req().getAsyncContext();
      Thread thread = new Thread(() -> new EventClient(context, json, ended).run(stream, place, answer),
          "lifeline-stream");
      thread.setDaemon(true);
      thread.start();
      // It never ends: Javalin would touch the answer then, which the server may have taken back already.
      return new CompletableFuture<>();
    });
  }

  private void run(EventStream stream, Shares.Place place, AsyncContext answer) {
    try {
      stream.work().serve(this);
    } catch (IOException e) {
      LOG.debug("a client went away: {}", e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      LOG.error("a stream of events failed", e);
    } finally {
      place.close();
      end(answer);
    }
  }

  private static void end(AsyncContext answer) {
    try {
      answer.complete();
    } catch (IllegalStateException e) {
      LOG.debug("the server has ended the answer already: {}", e.toString());
    }
  }

  /** Ends the stream, with an event {@value #SIGNED_OUT}, when the client's login has ended. */
  void requireLogin() throws IOException {
    if (System.nanoTime() - checkedNs < CHECK_NS) {
      return;
    }
    checkedNs = System.nanoTime();
    String why = ended.get();
    if (why != null) {
      waiting.reset();
      event(SIGNED_OUT, Map.of("detail", why + ": sign in again with a token that is valid"));
      send();
      throw new IOException(why);
    }
  }

  /** Adds an event. */
  void event(String name, Object data) throws IOException {
    event(name, json.writeValueAsBytes(data), null);
  }

  /**
   * Adds an event.
   *
   * @param data without line breaks
   * @param id null for none
   */
  void event(String name, byte[] data, String id) throws IOException {
    text((id == null ? "" : "id: " + id + "\n") + "event: " + name + "\ndata: ");
    waiting.write(data);
    text("\n\n");
  }

  /** Adds a comment, which shows that the connection works. */
  void stillHere() throws IOException {
    text(": still here\n\n");
  }

  private void text(String text) throws IOException {
    waiting.write(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Sends what was added; waits until the connection takes it. */
  void send() throws IOException {
    var out = context.res().getOutputStream();
    waiting.writeTo(out);
    out.flush();
    waiting.reset();
  }
}
