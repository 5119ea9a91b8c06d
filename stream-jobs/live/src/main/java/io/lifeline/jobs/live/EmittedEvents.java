package io.lifeline.jobs.live;

import io.lifeline.jobs.core.config.JobConfig;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Events that this process emits itself, through the program {@code lifeline-emit}. Never waits for the broker: beyond
 * a number of waiting events, and when the program cannot be run, events are dropped and counted. Thread-safe.
 */
public final class EmittedEvents implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EmittedEvents.class);
  private static final String PROGRAM = "lifeline-emit";
  private static final int MOST_WAITING = 1000;
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final String END = "";

  private final JobConfig broker;
  private final Programs programs;
  private final String emitter;
  private final BlockingQueue<String> waiting = new ArrayBlockingQueue<>(MOST_WAITING);
  private final AtomicLong dropped = new AtomicLong();
  private final Thread thread = new Thread(this::run, "lifeline-emitted");
  private volatile Process process;

  /** @param emitter name of the program in the events */
  public EmittedEvents(JobConfig broker, Programs programs, String emitter) {
    this.broker = broker;
    this.programs = programs;
    this.emitter = emitter;
    thread.setDaemon(true);
    thread.start();
  }

  /** Emits an event of level info whose fields are all strings. */
  public void emit(String type, Map<String, String> fields) {
    StringBuilder line = new StringBuilder(type);
    fields.forEach((name, value) -> line.append(' ').append(name).append(":string=").append(quoted(value)));
    if (!waiting.offer(line.append('\n').toString())) {
      dropped.incrementAndGet();
    }
  }

  /** Returns how many events were dropped. */
  public long dropped() {
    return dropped.get();
  }

  private static String quoted(String value) {
    return '"' + value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\t", "\\t")
        .replace("\0", "") + '"';
  }

  private void run() {
    try {
      for (String line = waiting.take(); !line.equals(END); line = waiting.take()) {
        try {
          write(line);
        } catch (IOException e) {
          dropped.incrementAndGet();
          LOG.warn("an event of this program is dropped, since {} cannot be used: {}", PROGRAM, e.getMessage());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    end();
  }

  private void write(String line) throws IOException {
    if (process == null || !process.isAlive()) {
      process = programs.command(PROGRAM, List.of("--program", emitter, "-"), broker)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }
    OutputStream in = process.getOutputStream();
    in.write(line.getBytes(StandardCharsets.UTF_8));
    in.flush();
  }

  /** What the broker does not take in time waits in the emitter's file for its next start. */
  private void end() {
    if (process == null) {
      return;
    }
    try {
      process.getOutputStream().close();
      process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (IOException e) {
      // it has gone
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      process.destroy();
    }
  }

  @Override
  public void close() throws InterruptedException {
    if (waiting.offer(END, PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
      thread.join(2 * PATIENCE.toMillis());
    }
    Process hanging = process;
    if (thread.isAlive() && hanging != null) { // it reads nothing, and the thread waits to write
      thread.interrupt();
      hanging.destroyForcibly();
    }
  }
}
