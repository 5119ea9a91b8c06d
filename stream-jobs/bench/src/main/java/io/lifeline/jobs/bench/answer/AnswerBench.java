package io.lifeline.jobs.bench.answer;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import io.lifeline.codec.BatchReader;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.jobs.core.Destination;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Waits for the answers to numbered events {@code bench.asked {serial}} that a program emits meanwhile: their rows in
 * the archive, summaries that include them, and alerts. An alert is the batch with the event in the stream of the job
 * filter, which a pager would subscribe to. The event's own time is subtracted from the time of this machine at which
 * an answer has been read, so the program must run on this machine.
 */
@Command(name = "answer-bench", mixinStandardHelpOptions = true,
    description = "Prints for each kind of answer the seconds from each event to it, as JSON.")
public final class AnswerBench implements Runnable {
  static final String EVENT = "bench.asked";
  static final String FIELD = "serial";
  private static final String STREAM = "alarm";

  @Option(names = "--url", required = true, description = "the broker, whose jobs are running")
  private String url;

  @Option(names = "--archive", required = true, description = "directory of the archive that they write")
  private Path archive;

  @Option(names = "--first", required = true, description = "first serial number that is counted")
  private long first;

  @Option(names = "--last", required = true, description = "last serial number; ends when all answers to it are there")
  private long last;

  @Option(names = "--timeout", required = true, description = "seconds after which it gives up")
  private long timeoutSeconds;

  /** A way to wait for answers. Used by one thread. */
  interface Watch extends AutoCloseable {
    /** Notes the answers that came, after waiting for some for a short time. */
    void poll(Seen seen) throws Exception;
  }

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new AnswerBench()).execute(arguments));
  }

  @Override
  public void run() {
    Map<String, Seen> answers = Map.of("sql", new Seen(first, last), "summary", new Seen(first, last), "alert",
        new Seen(first, last));
    Rows rows = new Rows(archive, first, last);
    AtomicReference<Exception> failure = new AtomicReference<>();
    Map<String, Watch> watches = new HashMap<>();
    watches.put("sql", rows);
    watches.put("summary", Messages.of(url, Destination.SUMMARIES, AnswerBench::summarised));
    watches.put("alert", Messages.of(url, Destination.derived(STREAM), AnswerBench::selected));
    Thread[] threads = watches.entrySet().stream()
        .map(watch -> new Thread(() -> watch(watch.getValue(), answers.get(watch.getKey()), failure), watch.getKey()))
        .toArray(Thread[]::new);
    Arrays.stream(threads).forEach(Thread::start);
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (failure.get() != null) {
      throw new IllegalStateException(failure.get().getMessage(), failure.get());
    }
    answers.forEach((name, seen) -> System.out.println("{\"name\":\"" + name + "\",\"seconds\":"
        + Arrays.stream(seen.since(rows.times())).mapToObj(Double::toString).collect(Collectors.joining(",", "[", "]"))
        + "}"));
  }

  private void watch(Watch watch, Seen seen, AtomicReference<Exception> failure) {
    long end = System.nanoTime() + timeoutSeconds * 1_000_000_000;
    try (watch) {
      while (!seen.isComplete() && failure.get() == null) {
        if (System.nanoTime() > end) {
          throw new IllegalStateException("no answer of kind " + Thread.currentThread().getName() + " to "
              + seen.missing() + " of the events within " + timeoutSeconds + " s");
        }
        watch.poll(seen);
      }
    } catch (Exception e) {
      failure.compareAndSet(null, e);
    }
  }

  /** A summary has all serial numbers of its window, since one program emits them in order. */
  private static void summarised(byte[] message, Seen seen) throws IOException {
    String field = null;
    String event = null;
    double least = Double.NaN;
    double greatest = Double.NaN;
    try (JsonParser json = new JsonFactory().createParser(message)) {
      while (json.nextToken() != null) {
        String name = json.currentName();
        if (json.currentToken().isScalarValue() && name != null) {
          switch (name) {
            case "type" -> event = json.getText();
            case "field" -> field = json.getText();
            case "min" -> least = json.getValueAsDouble(Double.NaN);
            case "max" -> greatest = json.getValueAsDouble(Double.NaN);
            default -> { }
          }
        }
      }
    }
    if (EVENT.equals(event) && FIELD.equals(field)) {
      for (long serial = (long) least; serial <= greatest; serial++) {
        seen.add(serial);
      }
    }
  }

  private static void selected(byte[] message, Seen seen) throws IOException {
    try {
      BatchReader batch = new BatchReader().read(message, 0, message.length);
      while (batch.next()) {
        if (batch.type().name().equals(EVENT)) {
          seen.add(batch.getLong(0));
        }
      }
    } catch (RejectedBatchException e) {
      throw new IOException("a derived batch is invalid: " + e.getMessage(), e);
    }
  }
}
