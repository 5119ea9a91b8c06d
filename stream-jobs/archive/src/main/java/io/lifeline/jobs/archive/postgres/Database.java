package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveUnavailableException;
import io.lifeline.jobs.archive.ArchiveWriteException;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Properties;
import java.util.TimeZone;

/** Opens connections, and translates SQL errors for users. */
final class Database {
  private static final String CONNECT_TIMEOUT_S = "10";

  /** Longer than any statement of ours may take; without it a lost server would block the client forever. */
  private static final String SOCKET_TIMEOUT_S = "300";

  private static final String LOCK_NOT_AVAILABLE = "55P03";
  private static final String DEPENDENT_OBJECTS = "2BP01";

  /**
   * The server has ended the connection, or another server is needed: 25006 is a former primary after a failover, 25P03
   * and 25P04 are timeouts of transactions.
   */
  private static final List<String> LOST = List.of("08", "57P", "25006", "25P03", "25P04");

  /**
   * Classes of states that a later attempt does not change: statements or data that the server does not accept, and
   * names that do not exist. All others are transient: disks, memory, locks and passwords change while the jobs run.
   */
  private static final List<String> PERMANENT =
      List.of("0A", "21", "22", "23", "26", "2F", "34", "3D", "3F", "42", "44");

  /** A table that a restore has not created yet. */
  private static final String UNDEFINED_TABLE = "42P01";

  /** Reported by a server that does not know this machine's time zone. */
  private static final String INVALID_PARAMETER = "22023";

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
      Connection connection = connect(options.url().jdbc(), properties);
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

  /**
   * The driver sends the name of this machine's time zone, for which it has no property, and the server refuses names
   * that it does not know, such as IST. Only then the zone has the name UTC while the driver reads it, with the same
   * rules: {@code SET TIME ZONE} follows.
   */
  private static Connection connect(String url, Properties properties) throws SQLException {
    try {
      return DriverManager.getConnection(url, properties);
    } catch (SQLException e) {
      if (!INVALID_PARAMETER.equals(e.getSQLState())) {
        throw e;
      }
    }
    synchronized (Database.class) {
      TimeZone zone = TimeZone.getDefault();
      TimeZone renamed = (TimeZone) zone.clone();
      renamed.setID("UTC");
      TimeZone.setDefault(renamed);
      try {
        return DriverManager.getConnection(url, properties);
      } finally {
        TimeZone.setDefault(zone);
      }
    }
  }

  /** Translates an error into the exception that determines the host's reaction: retry, reopen or give up. */
  static IOException translated(String doing, PostgresOptions options, SQLException cause) {
    String state = cause.getSQLState() == null ? "" : cause.getSQLState();
    String what = doing + " the archive in " + options.url() + ": " + firstLineOf(cause.getMessage());
    if (LOST.stream().anyMatch(state::startsWith)) {
      return new ArchiveUnavailableException(what, cause);
    }
    return switch (state) {
      case "53100" -> new ArchiveWriteException(what + "; free space on the server", cause);
      case "53200" ->
          new ArchiveWriteException(what + "; a transaction locks each table that it writes: raise the server's "
              + "max_locks_per_transaction", cause);
      case "28P01", "28000" ->
          new ArchiveWriteException(what + "; check the user in archive.url and archive.password.file", cause);
      case "42501" -> new ArchiveException(what + "; the user must own the schemas " + options.schema() + " and "
          + options.schema() + Schema.DATA + ", or be allowed to create them in this database", cause);
      case LOCK_NOT_AVAILABLE ->
          new ArchiveWriteException(what + "; another transaction locks the archive: end it", cause);
      case UNDEFINED_TABLE -> new ArchiveWriteException(what, cause);
      default -> PERMANENT.stream().anyMatch(state::startsWith) || state.isEmpty()
          ? new ArchiveException(what, cause)
          : new ArchiveWriteException(what, cause);
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
