package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.ArchiveException;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A PostgreSQL archive to ask questions of: its views stand under their names, and nothing can be changed. */
public final class PostgresReader implements AutoCloseable {
  private final Connection connection;

  private PostgresReader(Connection connection) {
    this.connection = connection;
  }

  /** Opens an archive that must be there. */
  public static PostgresReader open(PostgresOptions options) throws IOException {
    Connection connection = Database.connect(options);
    try (Statement statement = connection.createStatement()) {
      connection.setReadOnly(true);
      statement.execute("SET search_path = \"" + options.schema().replace("\"", "\"\"") + "\", pg_catalog");
      try (ResultSet row = statement.executeQuery("SELECT to_regclass('archive') IS NULL")) {
        row.next();
        if (row.getBoolean(1)) {
          throw new ArchiveException("there is no archive in the schema " + options.schema() + " of " + options.url()
              + ": give --archive what archive.url is for the jobs, and --schema what archive.schema is");
        }
      }
      return new PostgresReader(connection);
    } catch (SQLException e) {
      close(connection);
      throw Database.translated("cannot open", options, e);
    } catch (ArchiveException e) {
      close(connection);
      throw e;
    }
  }

  private static void close(Connection connection) {
    try {
      connection.close();
    } catch (SQLException e) {
      // It is of no use any more.
    }
  }

  /** Prepares a query. */
  public PreparedStatement prepare(String sql) throws SQLException {
    return connection.prepareStatement(sql);
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
