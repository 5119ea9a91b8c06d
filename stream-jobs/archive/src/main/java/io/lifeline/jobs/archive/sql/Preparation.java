package io.lifeline.jobs.archive.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** Executes what a query needs before it can be prepared; another thread can cancel it. */
final class Preparation {
  private final Connection connection;
  private volatile Statement running;
  private volatile boolean isCancelled;

  Preparation(Connection connection) {
    this.connection = connection;
  }

  /** Begins the preparation of the next query. */
  void begin() {
    isCancelled = false;
  }

  void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      running = statement;
      check();
      statement.execute(sql);
    } catch (SQLException e) {
      check();
      throw e;
    } finally {
      running = null;
    }
  }

  /** @throws SQLException if it is cancelled */
  void check() throws SQLException {
    if (isCancelled) {
      throw new SQLException("the query was cancelled while it was prepared");
    }
  }

  /** Cancels it; must be repeated until it has ended, since a statement may be about to begin. */
  void cancel() {
    isCancelled = true;
    Statement statement = running;
    try {
      if (statement != null) {
        statement.cancel();
      }
    } catch (SQLException e) {
      // It has ended meanwhile.
    }
  }
}
