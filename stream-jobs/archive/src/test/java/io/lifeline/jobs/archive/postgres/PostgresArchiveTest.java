package io.lifeline.jobs.archive.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.ArchiveContract;
import io.lifeline.jobs.archive.ArchiveFeed;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.PartitionedWriter;
import io.lifeline.jobs.archive.RollOptions;
import io.lifeline.jobs.archive.SmallDisk;
import io.lifeline.jobs.core.ledger.ArchivedEvents;
import io.lifeline.servers.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;

/** Runs the contract on a real server. */
@Tag("system")
class PostgresArchiveTest extends ArchiveContract {
  private final String schema = PostgresDatabases.newSchema();

  private PostgresSession session;

  @Override
  protected Archive archive(RollOptions roll) throws Exception {
    return new AtTheTimeOfTheEvents(PostgresDatabases.options(schema, roll));
  }

  /** An archive opened with the clock of that time, so that rows have partitions by day. */
  private final class AtTheTimeOfTheEvents implements Archive {
    private final PostgresOptions options;
    private final AtomicReference<String> id = new AtomicReference<>();

    AtTheTimeOfTheEvents(PostgresOptions options) {
      this.options = options;
    }

    @Override
    public ArchiveWriter open(ArchiveFeed rejected) throws IOException {
      session = new PostgresSession(options, id, rejected, step -> {}, () -> PostgresDatabases.NOW_MS);
      return new PartitionedWriter(options.roll(), session);
    }

    @Override
    public Archive share(int writer, int writers) {
      return new AtTheTimeOfTheEvents(options.withRoll(options.roll().dividedBy(writers)));
    }

    @Override
    public ArchivedEvents counts() {
      return new PostgresArchive(options).counts();
    }

    @Override
    public List<String> resume(boolean acceptingLoss) throws IOException {
      return new PostgresArchive(options).resume(acceptingLoss);
    }

    @Override
    public String name() {
      return new PostgresArchive(options).name();
    }
  }

  @Override
  protected RollOptions defaultRoll() {
    return PostgresOptions.DEFAULT_ROLL;
  }

  @Override
  protected String reader() {
    return "postgresql";
  }

  @Override
  protected long serverMemory() throws Exception {
    long most = 0;
    for (String pid : query("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")) {
      for (String line : Files.readAllLines(Path.of("/proc", pid, "status"))) {
        if (line.startsWith("VmHWM:")) {
          most = Math.max(most, Long.parseLong(line.replaceAll("\\D", "")) << 10);
        }
      }
    }
    assertThat(most).isPositive();
    return most;
  }

  @Override
  protected List<String> query(String sql) throws Exception {
    return PostgresDatabases.query(schema, sql);
  }

  @Override
  protected Archive archiveOn(SmallDisk disk) throws Exception {
    PostgresServer server = PostgresServer.shared();
    String space = disk.path().getFileName().toString();
    if (query("SELECT 1 FROM pg_tablespace WHERE spcname = '" + space + "'").isEmpty()) {
      assertThat(SmallDisk.run("chown", "postgres:", disk.path().toString())).isZero();
      server.administer("CREATE TABLESPACE \"" + space + "\" LOCATION '" + disk.path() + "'",
          "GRANT CREATE ON TABLESPACE \"" + space + "\" TO lifeline");
      disk.beforeItGoes(() -> { // otherwise the server could no longer write checkpoints
        server.execute("DROP SCHEMA " + schema + ", " + schema + Schema.DATA + " CASCADE");
        server.administer("DROP TABLESPACE \"" + space + "\"");
      });
    }
    String url = server.url() + "?options=-c%20default_tablespace%3D" + space;
    return new AtTheTimeOfTheEvents(PostgresDatabases.options(url, server.passwordFile(), schema));
  }

  @Override
  protected List<String> queryOn(SmallDisk disk, String sql) throws Exception {
    return query(sql);
  }

  @Override
  protected void moveTo(String elsewhere) throws Exception {
    rename(schema, schema + elsewhere);
  }

  @Override
  protected void moveBackFrom(String elsewhere) throws Exception {
    rename(schema + elsewhere, schema);
  }

  private static void rename(String from, String to) throws Exception {
    for (String suffix : List.of("", Schema.DATA)) {
      PostgresServer.shared().execute("ALTER SCHEMA " + from + suffix + " RENAME TO " + to + suffix);
    }
  }

  /** Some connection pools lose session locks. */
  @Override
  protected void loseLock(int partition) throws Exception {
    session.schema().unlockPartition(session.connection(), partition);
    session.connection().commit();
  }
}
