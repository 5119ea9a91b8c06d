package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.ArchiveFeed;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.PartitionedWriter;
import io.lifeline.jobs.core.ledger.ArchivedEvents;
import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Tables in a PostgreSQL database, one per event type, written by COPY. */
public final class PostgresArchive implements Archive {
  private final PostgresOptions options;

  public PostgresArchive(PostgresOptions options) {
    this.options = options;
  }

  @Override
  public ArchiveWriter open(ArchiveFeed feed) throws IOException {
    return open(feed, step -> {}, System::currentTimeMillis);
  }

  ArchiveWriter open(ArchiveFeed feed, Consumer<StoreStep> progress, LongSupplier clock)
      throws IOException {
    return new PartitionedWriter(options.roll(), new PostgresSession(options, feed, progress, clock));
  }

  /** Each of them deletes what has expired, since it may be the only one that gets messages; see {@link Expiry}. */
  @Override
  public Archive share(int writer, int writers) {
    return new PostgresArchive(options.withRoll(options.roll().dividedBy(writers)));
  }

  @Override
  public ArchivedEvents counts() {
    return new PostgresCounts(options);
  }

  @Override
  public String name() {
    return options.url() + "#" + options.schema();
  }
}
