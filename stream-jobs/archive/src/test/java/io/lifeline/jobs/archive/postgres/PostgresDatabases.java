package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.RollOptions;
import io.lifeline.servers.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A separate archive for each test, in the server that tests share. */
final class PostgresDatabases {
  /** A time near the events of {@code Archives}. */
  static final long NOW_MS = Instant.parse("2026-09-21T15:00:00Z").toEpochMilli();

  private static final AtomicInteger SCHEMAS = new AtomicInteger();

  private PostgresDatabases() {}

  static String newSchema() {
    return "test_" + SCHEMAS.incrementAndGet();
  }

  static PostgresOptions options(String schema, RollOptions roll) throws Exception {
    PostgresServer server = PostgresServer.shared();
    return options(server.url(), server.passwordFile(), schema).withRoll(roll);
  }

  static PostgresOptions options(String url, Path passwordFile, String schema) {
    return PostgresOptions.at(PostgresUrl.parse(url)).withPasswordFile(passwordFile).withSchema(schema);
  }

  /** Returns the rows of a query, with cells joined by a blank. */
  static List<String> query(String schema, String sql) throws Exception {
    return query(PostgresServer.shared(), schema, sql);
  }

  static List<String> query(PostgresServer server, String schema, String sql) throws Exception {
    List<String> lines = new ArrayList<>();
    try (Connection connection = server.connect(); Statement statement = connection.createStatement()) {
      statement.execute("SET search_path = " + schema + "; SET TIME ZONE 'UTC'; SET jit = off");
      try (ResultSet rows = statement.executeQuery(sql)) {
        int columns = rows.getMetaData().getColumnCount();
        while (rows.next()) {
          List<String> cells = new ArrayList<>();
          for (int i = 1; i <= columns; i++) {
            cells.add(rows.getString(i));
          }
          lines.add(String.join(" ", cells));
        }
      }
    }
    return lines;
  }
}
