package io.lifeline.console.feed;

import io.lifeline.console.events.EventLog;
import io.lifeline.console.index.Snapshot;
import io.lifeline.console.index.Span;
import io.lifeline.console.index.TraceIndex;
import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.EmptyArchiveException;
import io.lifeline.jobs.core.directory.Directory;
import io.lifeline.jobs.core.live.LiveMessages;
import io.lifeline.jobs.core.live.LiveStart;
import io.lifeline.jobs.core.live.SeenBatches;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fills the index on a thread of its own: with the archive's newest events, then with those that arrive at the broker.
 */
public final class Feed implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Feed.class);
  /** The archive lags behind the broker, and emitters lag behind each other: what is read twice is left out. */
  private static final Duration OVERLAP = Duration.ofMinutes(10);

  /** Opens the archive. */
  @FunctionalInterface
  public interface Opener {
    ArchiveReader open() throws IOException, SQLException;
  }

  private final TraceIndex index;
  private final EventLog log;
  private final Opener archive;
  private final Function<LiveStart, LiveMessages> broker;
  private final Directory directory;
  private final Duration history;
  private final long limit;
  private final LoadProgress progress;
  private final Thread thread = new Thread(this::run, "lifeline-feed");
  private volatile String archiveError;
  private volatile LiveMessages messages;

  /**
   * @param log gets the batches of the broker
   * @param archive null if there is none
   * @param broker opens the messages of a broker; null if there is none
   * @param directory gets the batches of the broker
   * @param history how far back the broker is read if there is no archive
   * @param limit how many events the index keeps
   */
  public Feed(TraceIndex index, EventLog log, Opener archive,
      Function<LiveStart, LiveMessages> broker, Directory directory, Duration history, long limit) {
    this.index = index;
    this.log = log;
    this.archive = archive;
    this.broker = broker;
    this.progress = new LoadProgress(archive != null);
    this.directory = directory;
    this.history = history;
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

  /** Returns why nothing comes from the broker; null if all is well. */
  public String brokerError() {
    LiveMessages open = messages;
    return open == null ? null : open.trouble();
  }

  private void run() {
    SeenBatches seen = new SeenBatches();
    if (archive != null) {
      loadArchive(seen);
    }
    if (broker != null) {
      LiveStart beginning = beginning();
      log.begin(beginning.sinceMs());
      try (LiveMessages open = broker.apply(beginning)) {
        messages = open;
        new BrokerFeed(index, seen, directory, log).run(open);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void loadArchive(SeenBatches seen) {
    try (ArchiveReader reader = archive.open()) {
      new ArchiveHistory(reader, index, seen, progress).load(limit);
    } catch (EmptyArchiveException e) {
      archiveError = null; // the jobs have just started: all that there is comes from the broker
    } catch (IOException | SQLException e) {
      archiveError = e.getMessage();
      LOG.error("the archive cannot be read: {}", e.getMessage());
    } finally {
      progress.end();
    }
  }

  private LiveStart beginning() {
    Span archived = index.read(Snapshot::span);
    long now = System.currentTimeMillis();
    long newest = archived == null ? now - history.toMillis() : Math.min(now, archived.to() / 1_000_000);
    return new LiveStart(archived == null ? newest : newest - OVERLAP.toMillis());
  }

  @Override
  public void close() throws InterruptedException {
    thread.interrupt();
    thread.join(Duration.ofSeconds(5).toMillis());
  }
}
