package io.lifeline.console.archive;

import io.lifeline.jobs.archive.ArchiveReader;
import java.io.IOException;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets one caller at a time read the archive, which grows meanwhile: a reader shows it as of its opening, so it is
 * opened again when it is older than two seconds.
 */
public final class ArchiveAccess implements AutoCloseable {
  private static final long FRESH_NS = TimeUnit.SECONDS.toNanos(2);
  private static final long TURN_S = 10;

  /** Opens the archive. */
  @FunctionalInterface
  public interface Opener {
    ArchiveReader open() throws IOException, SQLException;
  }

  /** Asks the archive something. */
  @FunctionalInterface
  public interface Question<T> {
    T ask(ArchiveReader archive) throws IOException, SQLException;
  }

  private final Opener opener;
  private final ReentrantLock turn = new ReentrantLock(true);
  private ArchiveReader reader;
  private long openedNs;

  /** @param opener null if there is no archive */
  public ArchiveAccess(Opener opener) {
    this.opener = opener;
  }

  /** Returns whether there is an archive at all. */
  public boolean exists() {
    return opener != null;
  }

  /** @throws ArchiveBusyException if others read it for longer than ten seconds */
  public <T> T ask(Question<T> question) throws IOException, SQLException {
    if (opener == null) {
      throw new IOException("this console has no archive: start it with --archive");
    }
    takeTurn();
    try {
      if (reader == null || System.nanoTime() - openedNs > FRESH_NS) {
        closeReader();
        reader = opener.open();
        openedNs = System.nanoTime();
      }
      try {
        return question.ask(reader);
      } finally {
        endQuestion();
      }
    } finally {
      turn.unlock();
    }
  }

  private void endQuestion() throws SQLException {
    try {
      reader.endQuestion();
    } catch (SQLException e) {
      closeReader(); // the connection is lost: the next question opens another one
    }
  }

  private void takeTurn() throws IOException {
    try {
      if (!turn.tryLock(TURN_S, TimeUnit.SECONDS)) {
        throw new ArchiveBusyException("other queries of the archive have been running for " + TURN_S
            + " s: try again when they have ended");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ArchiveBusyException("interrupted while waiting for other queries of the archive");
    }
  }

  private void closeReader() throws SQLException {
    if (reader != null) {
      ArchiveReader closing = reader;
      reader = null;
      closing.close();
    }
  }

  @Override
  public void close() throws SQLException {
    turn.lock();
    try {
      closeReader();
    } finally {
      turn.unlock();
    }
  }
}
