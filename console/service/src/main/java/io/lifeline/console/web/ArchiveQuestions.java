package io.lifeline.console.web;

import io.lifeline.console.archive.ArchiveAccess;
import io.lifeline.console.archive.ArchiveBusyException;
import io.lifeline.console.archive.LimitedReader;
import java.io.IOException;
import java.sql.SQLException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/** Asks the archive, and makes answers of its errors. */
public final class ArchiveQuestions {
  private static final long LIMIT_MS = 30_000;

  private final ArchiveAccess archive;
  private final long limitMs;
  private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor(work -> {
    Thread thread = new Thread(work, "lifeline-archive-limit");
    thread.setDaemon(true);
    return thread;
  });

  public ArchiveQuestions(ArchiveAccess archive) {
    this(archive, LIMIT_MS);
  }

  /** @param limitMs time for the queries of one brief question */
  ArchiveQuestions(ArchiveAccess archive, long limitMs) {
    this.archive = archive;
    this.limitMs = limitMs;
  }

  /** Asks with a time limit: for questions whose time depends on users, or on what strangers put into events. */
  <T> T askBriefly(ArchiveAccess.Question<T> question) {
    return ask(reader -> LimitedReader.ask(reader, limitMs, watch, question));
  }

  <T> T ask(ArchiveAccess.Question<T> question) {
    if (!archive.exists()) {
      throw new Problem(409, "this console has no archive: start it with the archive's directory or URL");
    }
    try {
      return archive.ask(question);
    } catch (ArchiveBusyException e) {
      throw new Problem(503, e.getMessage());
    } catch (IOException e) {
      throw new Problem(503, "the archive cannot be read: " + e.getMessage());
    } catch (SQLException e) {
      throw new Problem(400, String.valueOf(e.getMessage()));
    }
  }
}
