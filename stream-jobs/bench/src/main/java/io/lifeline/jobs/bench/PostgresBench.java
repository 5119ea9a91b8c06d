package io.lifeline.jobs.bench;

import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.postgres.PostgresArchive;
import io.lifeline.jobs.archive.postgres.PostgresOptions;
import io.lifeline.jobs.archive.postgres.PostgresUrl;
import io.lifeline.jobs.core.Position;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * From batches in memory to committed rows in PostgreSQL, alternating with a bare COPY BINARY of the same rows, encoded
 * beforehand, into a table with the same columns, in transactions of the same size. The tables exist before the
 * measurement starts; the time to create them is measured separately.
 */
@Command(name = "postgres-bench", mixinStandardHelpOptions = true, description = "Batches to PostgreSQL, against COPY.")
public final class PostgresBench implements Runnable {
  private static final String SCHEMA = "bench";
  private static final String BARE = "bare";

  @Option(names = "--url", required = true, description = "postgresql://user@host:port/database")
  private String url;

  @Option(names = "--password-file", required = true, description = "file whose first line is the password")
  private Path passwordFile;

  @Option(names = "--types", defaultValue = "1", description = "event types that take turns; above 1 without the bare"
      + " COPY (default ${DEFAULT-VALUE})")
  private int types;

  @Option(names = "--rounds", defaultValue = "5", description = "repetitions (default ${DEFAULT-VALUE})")
  private int rounds;

  @Option(names = "--million", defaultValue = "2", description = "million events each (default ${DEFAULT-VALUE})")
  private long million;

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new PostgresBench()).execute(arguments));
  }

  @Override
  public void run() {
    try (Connection connection = connect(); Statement sql = connection.createStatement()) {
      long startNs = System.currentTimeMillis() * 1_000_000 - 60_000_000_000L;
      List<byte[]> batches = ArchiveEvents.batches(5, types, million * 1_000_000, startNs);
      double[] ours = new double[rounds];
      double[] bare = new double[rounds];
      double tablesPerSecond = 0;
      List<byte[]> transactions = List.of();
      for (int round = -1; round < rounds; round++) {
        // Alternates the order, so that the server's background work affects both equally.
        if (types == 1 && round >= 0 && round % 2 == 0) {
          bare[round] = bareRate(connection, sql, transactions);
        }
        double[] rates = archiveRate(sql, batches);
        tablesPerSecond = Math.max(tablesPerSecond, rates[1]);
        if (round < 0 && types == 1) {
          transactions = takeOver(connection, sql);
        }
        if (round >= 0) {
          ours[round] = rates[0];
        }
        if (types == 1 && round % 2 != 0) {
          double rate = bareRate(connection, sql, transactions);
          if (round >= 0) {
            bare[round] = rate;
          }
        }
      }
      Rates.print("archive.postgres", ours, Map.of("tables_made_per_s", tablesPerSecond, "rounds", rounds));
      if (types == 1) {
        Rates.print("copy.binary", bare, Map.of("transactions", transactions.size()));
      }
    } catch (IOException | SQLException e) {
      throw new CommandLine.ExecutionException(new CommandLine(this), e.getMessage(), e);
    }
  }

  private Connection connect() throws IOException, SQLException {
    PostgresUrl parsed = PostgresUrl.parse(url);
    Properties properties = new Properties();
    properties.setProperty("user", parsed.user());
    try (BufferedReader reader = Files.newBufferedReader(passwordFile)) {
      properties.setProperty("password", reader.readLine());
    }
    return DriverManager.getConnection(parsed.jdbc(), properties);
  }

  /** Returns rows per second, and tables created per second before that. */
  private double[] archiveRate(Statement sql, List<byte[]> batches) throws IOException, SQLException {
    sql.execute("DROP SCHEMA IF EXISTS " + SCHEMA + " CASCADE");
    dropData(sql);
    sql.execute("CHECKPOINT");
    PostgresOptions options =
        PostgresOptions.at(PostgresUrl.parse(url)).withPasswordFile(passwordFile).withSchema(SCHEMA);
    double tables;
    double rows;
    try (ArchiveWriter writer = new PostgresArchive(options).open(rejection -> {
      throw new IllegalStateException("refused: " + rejection.code());
    })) {
      long start = System.nanoTime();
      long now = System.currentTimeMillis();
      writer.append(new Position(0, 0, now), batches.get(0));
      writer.roll();
      tables = types * 1e9 / (System.nanoTime() - start);
      start = System.nanoTime();
      for (int i = 1; i < batches.size(); i++) {
        writer.append(new Position(0, i, now), batches.get(i));
      }
      writer.roll();
      rows = (batches.size() - 1) * (double) ArchiveEvents.EVENTS_PER_BATCH * 1e9 / (System.nanoTime() - start);
    }
    try (ResultSet count = sql.executeQuery("SELECT sum(archived) FROM " + SCHEMA + ".ledger")) {
      count.next();
      if (count.getLong(1) != (long) ArchiveEvents.EVENTS_PER_BATCH * batches.size()) {
        throw new IllegalStateException("the archive does not hold what was appended");
      }
    }
    return new double[] {rows, tables};
  }

  /** Uses several transactions, since one cannot lock thousands of tables. */
  private void dropData(Statement sql) throws SQLException {
    for (int i = 0; i < types; i++) {
      sql.execute("DROP TABLE IF EXISTS " + SCHEMA + "_data.\"bench." + i + "\"");
    }
    sql.execute("DROP SCHEMA IF EXISTS " + SCHEMA + "_data CASCADE");
  }

  /** Returns the archive's rows for COPY BINARY, in transactions of the archive's size; creates the bare table. */
  private static List<byte[]> takeOver(Connection connection, Statement sql) throws IOException, SQLException {
    sql.execute("DROP TABLE IF EXISTS " + BARE);
    sql.execute("CREATE TABLE " + BARE + " (LIKE " + SCHEMA + "_data.\"bench.0\")");
    String partition;
    try (ResultSet row = sql.executeQuery("SELECT string_agg(quote_ident(partition), ',') FROM " + SCHEMA
        + ".time_partitions")) {
      row.next();
      partition = row.getString(1);
    }
    return BinaryCopy.read(connection, "SELECT * FROM " + SCHEMA + "_data." + partition.split(",")[0],
        PostgresOptions.DEFAULT_ROLL.bytes() / 2);
  }

  /** As the archive does, waits for the disk at the last commit only. */
  private static double bareRate(Connection connection, Statement sql, List<byte[]> transactions)
      throws IOException, SQLException {
    sql.execute("TRUNCATE " + BARE);
    sql.execute("CHECKPOINT");
    sql.execute("SET synchronous_commit = off");
    long start = System.nanoTime();
    long rows = 0;
    for (int i = 0; i < transactions.size(); i++) {
      if (i == transactions.size() - 1) {
        sql.execute("SET synchronous_commit = on");
      }
      rows += BinaryCopy.write(connection, BARE, transactions.get(i));
    }
    return rows * 1e9 / (System.nanoTime() - start);
  }
}
