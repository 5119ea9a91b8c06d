package io.lifeline.jobs.cli.tail;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.core.live.LiveMessages;
import io.lifeline.jobs.core.live.SeenBatches;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** Prints the selected events of messages as they arrive. */
final class Tail {
  private static final Duration WAIT = Duration.ofMillis(200);
  private static final long REPORT_NS = TimeUnit.SECONDS.toNanos(1);
  private static final int PIECE_CHARS = 32 << 10;

  private final LiveMessages messages;
  private final LineText format;
  private final Selection selection;
  private final Printer printer;
  private final long limit;
  private final BatchReader reader = new BatchReader();
  private final BatchEvents events = new BatchEvents();
  private final SeenBatches seen = new SeenBatches();
  private final Losses losses = new Losses();
  private final StringBuilder lines = new StringBuilder(2 * PIECE_CHARS);
  private int eventsInLines;
  private long printed;
  private long batches;
  private long repeated;
  private long rejected;
  private String trouble;
  private long reportedNs;

  /** @param limit how many events to print */
  Tail(LiveMessages messages, LineText format, Selection selection, Printer printer, long limit) {
    this.messages = messages;
    this.format = format;
    this.selection = selection;
    this.printer = printer;
    this.limit = limit;
  }

  /** Runs until the limit is reached or the thread is interrupted. */
  void run() throws IOException, InterruptedException {
    try {
      read();
    } finally {
      losses.report(System.nanoTime(), printer::say);
    }
  }

  private void read() throws IOException, InterruptedException {
    while (printed < limit) {
      LiveMessages.Message message = messages.next(WAIT);
      reportTrouble();
      if (message != null) {
        accept(message.data());
      }
      boolean isMoreWaiting = message != null && message.behind() > 0;
      if (eventsInLines > 0 && !isMoreWaiting) {
        print();
      }
      if (System.nanoTime() - reportedNs > REPORT_NS) {
        reportedNs = System.nanoTime();
        losses.report(reportedNs, printer::say);
      }
    }
  }

  private void accept(byte[] message) throws IOException, InterruptedException {
    try {
      reader.read(message, 0, message.length);
    } catch (RejectedBatchException e) {
      if (rejected++ == 0) {
        printer.say("a message is not a valid batch: " + e.getMessage() + "; further ones are only counted");
      }
      return;
    }
    if (!seen.add(reader.incarnation(), reader.route(), reader.sequence())) {
      repeated++;
      return;
    }
    batches++;
    losses.add(reader, System.nanoTime());
    for (ArchivedEvent event : events.of(reader, selection)) {
      format.append(lines, event);
      eventsInLines++;
      if (lines.length() >= PIECE_CHARS || printed + eventsInLines == limit) {
        print();
        if (printed == limit) {
          return;
        }
      }
    }
  }

  private void print() throws IOException, InterruptedException {
    byte[] bytes = lines.toString().getBytes(StandardCharsets.UTF_8);
    printed += printer.print(bytes, eventsInLines) ? eventsInLines : 0;
    lines.setLength(0);
    eventsInLines = 0;
  }

  private void reportTrouble() {
    String now = messages.trouble();
    if (!Objects.equals(now, trouble)) {
      printer.say(now == null ? "the broker answers again" : now + " (waiting)");
      trouble = now;
    }
  }

  /** Returns the counts, named as {@code lifeline-cat} does. */
  String summary() {
    return "events=" + printed + " skipped=" + printer.skipped() + " batches=" + batches
        + " missing_batches=" + losses.missing() + " repeated_batches=" + repeated + " dropped=" + losses.dropped()
        + " rejected=" + rejected + " undecided=" + selection.undecided();
  }
}
