package io.lifeline.jobs.cli.tail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PrinterTest {

  private static final long END_MS = 60_000;

  /** Takes nothing until it is opened. */
  private static final class Gate extends OutputStream {
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch open = new CountDownLatch(1);
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();

    @Override
    public void write(int b) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void write(byte[] bytes) throws IOException {
      reached.countDown();
      try {
        open.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      written.write(bytes);
    }

    private long lines() {
      return written.toString(StandardCharsets.UTF_8).lines().count();
    }
  }

  private final Gate gate = new Gate();
  private final StringWriter err = new StringWriter();

  @Test
  void skipsAndCountsWhatATerminalDoesNotTakeAndNeverWaits() throws Exception {
    Printer printer = printer(true);
    byte[] lines = "event\nevent\n".getBytes(StandardCharsets.UTF_8);
    int taken = printer.print(lines, 2) ? 2 : 0;
    gate.reached.await();
    for (int i = 0; i < 1000; i++) {
      taken += printer.print(lines, 2) ? 2 : 0;
    }
    printer.say("a note");
    assertThat(taken).isBetween(2, 100);
    assertThat(printer.skipped()).isEqualTo(2002 - taken);
    gate.open.countDown();
    assertThat(printer.end(END_MS)).isTrue();
    assertThat(gate.lines()).isEqualTo(taken);
    assertThat(err.toString().lines()).contains("a note",
        "skipped " + printer.skipped() + " events: the terminal does not keep up; select fewer, or write to a file");
  }

  @Test
  void writesEverythingToAFileHoweverSlowItIs() throws Exception {
    Printer printer = printer(false);
    Thread opener = new Thread(() -> {
      try {
        gate.reached.await();
        gate.open.countDown();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    });
    opener.start();
    for (int i = 0; i < 1000; i++) {
      assertThat(printer.print("event\n".getBytes(StandardCharsets.UTF_8), 1)).isTrue();
    }
    assertThat(printer.end(END_MS)).isTrue();
    assertThat(gate.lines()).isEqualTo(1000);
    assertThat(printer.skipped()).isZero();
  }

  @Test
  void aFailedOutputIsReportedAndBlocksNobody() throws Exception {
    Printer printer = new Printer(new OutputStream() {
      @Override
      public void write(int b) throws IOException {
        throw new IOException("no space left");
      }
    }, new PrintWriter(err), false);
    printer.start();
    assertThatThrownBy(() -> {
      while (true) {
        printer.print(new byte[] {'\n'}, 1);
      }
    }).isInstanceOf(IOException.class).hasMessage("no space left");
    assertThat(printer.end(END_MS)).isTrue();
    assertThat(printer.failure()).hasMessage("no space left");
  }

  @Test
  void doesNotWaitLongerThanAskedForAStoppedTerminal() throws Exception {
    Printer printer = printer(true);
    printer.print("event\n".getBytes(StandardCharsets.UTF_8), 1);
    gate.reached.await();
    assertThat(printer.end(10)).isFalse();
    gate.open.countDown();
  }

  private Printer printer(boolean maySkip) {
    Printer printer = new Printer(gate, new PrintWriter(err), maySkip);
    printer.start();
    return printer;
  }
}
