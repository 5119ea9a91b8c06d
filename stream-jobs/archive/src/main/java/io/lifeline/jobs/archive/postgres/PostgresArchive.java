package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.ArchiveFeed;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.PartitionWriter;
import io.lifeline.jobs.archive.PartitionedWriter;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.core.ledger.ArchivedEvents;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Tables in a PostgreSQL database, one per event type, written by COPY. */
public final class PostgresArchive implements Archive {
  private final PostgresOptions options;

  /** Id of the archive that this process found first: later ones in the same schema are not written to. */
  private final AtomicReference<String> id;

  public PostgresArchive(PostgresOptions options) {
    this(options, new AtomicReference<>());
  }

  private PostgresArchive(PostgresOptions options, AtomicReference<String> id) {
    this.options = options;
    this.id = id;
  }

  @Override
  public ArchiveWriter open(ArchiveFeed feed) throws IOException {
    return open(feed, step -> {}, System::currentTimeMillis);
  }

  ArchiveWriter open(ArchiveFeed feed, Consumer<StoreStep> progress, LongSupplier clock)
      throws IOException {
    return new PartitionedWriter(options.roll(), new PostgresSession(options, id, feed, progress, clock));
  }

  /** Each of them deletes what has expired, since it may be the only one that gets messages; see {@link Expiry}. */
  @Override
  public Archive share(int writer, int writers) {
    return new PostgresArchive(options.withRoll(options.roll().dividedBy(writers)), id);
  }

  @Override
  public ArchivedEvents counts() {
    return new PostgresCounts(options);
  }

  @Override
  public List<String> resume(boolean acceptingLoss) throws IOException {
    Schema schema = new Schema(options);
    List<String> resumed = new ArrayList<>();
    try (Connection connection = Database.connect(options); Statement statement = connection.createStatement()) {
      List<Integer> partitions = new ArrayList<>();
      try (ResultSet rows = statement.executeQuery("SELECT partition, refused FROM " + schema.own("positions")
          + " WHERE refused IS NOT NULL ORDER BY partition FOR UPDATE")) {
        while (rows.next()) {
          if (PartitionWriter.isRefusal(rows.getString(2))) {
            partitions.add(rows.getInt(1));
            resumed.add("partition " + rows.getInt(1) + ": " + rows.getString(2));
          }
        }
      }
      for (int partition : partitions) {
        statement.executeUpdate("UPDATE " + schema.own("positions") + " SET refused = " + (acceptingLoss
            ? "replace(" + Sql.literal(PartitionWriter.accepted(0)) + ", '0', next::text)" : "NULL")
            + " WHERE partition = " + partition);
      }
      connection.commit();
    } catch (SQLException e) {
      throw Database.translated("cannot resume", options, e);
    }
    return resumed;
  }

  @Override
  public String name() {
    return options.url() + "#" + options.schema();
  }
}
