package io.lifeline.jobs.cli.tail;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Writes lines on a thread of its own, behind a bounded queue. If the output does not keep up, either the caller waits,
 * or lines are skipped and counted.
 */
final class Printer {

  /** Lines that are written, or skipped, together. */
  private record Piece(byte[] lines, int events) {}

  /** Few, so that a slow terminal shows what is new. */
  private static final int MAX_WAITING = 16;
  private static final int MAX_NOTES = 100;
  private static final long NOTE_INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);
  private static final Piece END = new Piece(new byte[0], 0);

  private final OutputStream out;
  private final PrintWriter err;
  private final boolean maySkip;
  private final BlockingQueue<Piece> waiting = new ArrayBlockingQueue<>(MAX_WAITING);
  private final List<String> notes = new ArrayList<>();
  private final Thread thread = new Thread(this::run, "lifeline-printer");
  private volatile IOException failure;
  private volatile long skipped;
  private long skippedSaid;
  private long skippedSaidNs = System.nanoTime() - NOTE_INTERVAL_NS - 1;

  /**
   * @param err where notes go
   * @param maySkip whether to skip what the output does not take in time
   */
  Printer(OutputStream out, PrintWriter err, boolean maySkip) {
    this.out = out;
    this.err = err;
    this.maySkip = maySkip;
  }

  void start() {
    thread.setDaemon(true); // a terminal may be stopped
    thread.start();
  }

  /**
   * Hands lines on; returns false if they were skipped.
   *
   * @throws IOException if the output has failed
   */
  boolean print(byte[] lines, int events) throws IOException, InterruptedException {
    if (failure != null) {
      throw failure;
    }
    Piece piece = new Piece(lines, events);
    if (!maySkip) {
      waiting.put(piece);
      return true;
    }
    boolean isTaken = waiting.offer(piece);
    if (!isTaken) {
      skipped += events; // by this thread only
    }
    return isTaken;
  }

  /** Writes a line to standard error soon. Never waits: beyond a number of waiting notes they are left out. */
  void say(String note) {
    synchronized (notes) {
      if (notes.size() < MAX_NOTES) {
        notes.add(note);
      }
    }
  }

  /** Returns the number of events that were skipped. */
  long skipped() {
    return skipped;
  }

  /** Returns why the output failed; null if it did not. */
  IOException failure() {
    return failure;
  }

  /** Waits until everything is written; returns false if that takes longer. */
  boolean end(long timeoutMs) throws InterruptedException {
    boolean isHandedOn = waiting.offer(END, timeoutMs, TimeUnit.MILLISECONDS);
    if (isHandedOn) {
      thread.join(timeoutMs);
    }
    return isHandedOn && !thread.isAlive();
  }

  private void run() {
    try {
      Piece piece = null;
      while (piece != END) {
        piece = waiting.poll(100, TimeUnit.MILLISECONDS);
        sayNotes(piece == END);
        if (piece != null && failure == null) { // after a failure the caller must not wait for this thread
          write(piece);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void write(Piece piece) {
    try {
      out.write(piece.lines);
      out.flush();
    } catch (IOException e) {
      failure = e;
    }
  }

  private void sayNotes(boolean isEnd) {
    List<String> now;
    synchronized (notes) {
      now = List.copyOf(notes);
      notes.clear();
    }
    now.forEach(err::println);
    long more = skipped - skippedSaid;
    if (more > 0 && !isEnd && System.nanoTime() - skippedSaidNs > NOTE_INTERVAL_NS) {
      err.println("skipped " + more + " events: the terminal does not keep up; select fewer, or write to a file");
      skippedSaid += more;
      skippedSaidNs = System.nanoTime();
    }
    err.flush();
  }
}
