package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveUnavailableException;
import io.lifeline.jobs.archive.ArchiveWriteException;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;

/** Opens connections, and translates SQL errors for users. */
final class Database {
  private static final String CONNECT_TIMEOUT_S = "10";

  /** Longer than any statement of ours may take; without it a lost server would block the client forever. */
  private static final String SOCKET_TIMEOUT_S = "300";

  private static final String LOCK_NOT_AVAILABLE = "55P03";
  private static final String DEPENDENT_OBJECTS = "2BP01";

  /** Cancelled by an administrator, or by statement_timeout. */
  private static final String CANCELLED = "57014";

  /** Reported by the former primary after a failover. */
  private static final String READ_ONLY = "25006";

  private Database() {}

  /** Opens a connection without auto-commit; the server detects within a minute that this machine is gone. */
  static Connection connect(PostgresOptions options) throws IOException {
    Properties properties = new Properties();
    properties.setProperty("ApplicationName", "lifeline-archive");
    properties.setProperty("connectTimeout", CONNECT_TIMEOUT_S);
    properties.setProperty("socketTimeout", SOCKET_TIMEOUT_S);
    properties.setProperty("tcpKeepAlive", "true");
    if (options.url().user() != null) {
      properties.setProperty("user", options.url().user());
    }
    if (options.tlsCa() != null) {
      properties.setProperty("sslmode", "verify-full");
      properties.setProperty("sslrootcert", options.tlsCa().toString());
    }
    if (options.password() != null) {
      properties.setProperty("password", options.password().read());
    }
    try {
      Connection connection = DriverManager.getConnection(options.url().jdbc(), properties);
      try (Statement statement = connection.createStatement()) {
        statement.execute(
            "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3");
        // Backslashes in literals are literal, whatever this database is configured for.
        statement.execute("SET standard_conforming_strings = on; SET TIME ZONE 'UTC'; SET lock_timeout = '60s'");
        // Of a view over thousands of tables it compiles each part: minutes, and gigabytes of the server's memory.
        statement.execute("SET jit = off");
        connection.setAutoCommit(false);
        return connection;
      } catch (SQLException e) {
        connection.close();
        throw e;
      }
    } catch (SQLException e) {
      throw translated("cannot connect to", options, e);
    }
  }

  /** Translates an error into the exception that determines the host's reaction: retry, reopen or give up. */
  static IOException translated(String doing, PostgresOptions options, SQLException cause) {
    String state = cause.getSQLState() == null ? "" : cause.getSQLState();
    String what = doing + " the archive in " + options.url() + ": " + firstLineOf(cause.getMessage());
    if (state.startsWith("08") || state.startsWith("57P") || state.equals(READ_ONLY)) {
      return new ArchiveUnavailableException(what, cause);
    }
    return switch (state) {
      case "53100" -> new ArchiveWriteException(what + "; free space on the server", cause);
      case "53200" ->
          new ArchiveWriteException(what + "; a transaction locks each table that it writes: raise the server's "
              + "max_locks_per_transaction", cause);
      case "28P01", "28000" ->
          new ArchiveException(what + "; check the user in archive.url and archive.password.file", cause);
      case "42501" -> new ArchiveException(what + "; the user must own the schemas " + options.schema() + " and "
          + options.schema() + Schema.DATA + ", or be allowed to create them in this database", cause);
      case LOCK_NOT_AVAILABLE ->
          new ArchiveWriteException(what + "; another transaction locks the archive: end it", cause);
      default ->
          state.startsWith("53") || state.startsWith("40") || state.startsWith("55") || state.equals("42P01")
              || state.equals(CANCELLED)
              ? new ArchiveWriteException(what, cause)
              : new ArchiveException(what, cause);
    };
  }

  /** Returns whether a definition could not be changed because it is in use or another view depends on it. */
  static boolean isInUse(SQLException failure) {
    return LOCK_NOT_AVAILABLE.equals(failure.getSQLState()) || DEPENDENT_OBJECTS.equals(failure.getSQLState());
  }

  private static String firstLineOf(String message) {
    String text = String.valueOf(message);
    int end = text.indexOf('\n');
    return end < 0 ? text : text.substring(0, end);
  }
}
