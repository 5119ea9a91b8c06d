package io.lifeline.console.feed;

import io.lifeline.console.index.TraceIndex;
import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.console.archive.ArchiveAccess;
import java.io.IOException;
import java.sql.SQLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Fills the index, on a thread of its own: with the archive's newest events. */
public final class Feed implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Feed.class);

  private final TraceIndex index;
  private final ArchiveAccess.Opener archive;
  private final long limit;
  private final LoadProgress progress = new LoadProgress();
  private final Thread thread = new Thread(this::run, "lifeline-feed");
  private volatile String archiveError;

  /**
   * @param archive null if there is none
   * @param limit how many events the index keeps
   */
  public Feed(TraceIndex index, ArchiveAccess.Opener archive, long limit) {
    this.index = index;
    this.archive = archive;
    this.limit = limit;
  }

  public void start() {
    thread.setDaemon(true);
    thread.start();
  }

  public LoadProgress progress() {
    return progress;
  }

  /** Returns why the archive could not be read; null if it could. */
  public String archiveError() {
    return archiveError;
  }

  private void run() {
    if (archive != null) {
      try (ArchiveReader reader = archive.open()) {
        new ArchiveHistory(reader, index, new SeenBatches(), progress).load(limit);
      } catch (IOException | SQLException e) {
        archiveError = e.getMessage();
        LOG.error("the archive cannot be read: {}", e.getMessage());
      } finally {
        progress.end();
      }
    }
  }

  @Override
  public void close() throws InterruptedException {
    thread.interrupt();
    thread.join();
  }
}
