package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.Counter;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveUnavailableException;
import io.lifeline.jobs.archive.Sql;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The two schemas of an archive. The public one has the tables below and the views; the other one, named with the
 * suffix {@link #DATA}, has the event tables, because event types may have any name.
 */
final class Schema {
  static final String DATA = "_data";

  /** Version of these tables; a release that does not know it must not write to them. */
  private static final int VERSION = 1;

  /** Version since types share a table. Until then, earlier releases can write to the archive, too. */
  private static final int VERSION_OF_SHARING = 3;

  /** The catalogue named the shared table, which did not keep out programs that had the archive open already. */
  private static final int FIRST_VERSION_OF_SHARING = 2;

  /** Second number of the advisory lock on definitions; other values are partitions. */
  private static final int DEFINITIONS = -1;

  /** Second number of the advisory lock for creating indexes. */
  private static final int MAKING_INDEXES = -2;

  static final String BROKER_TIME_INDEX = "batches_broker_time";

  /** Indexes of the table batches: name and definition. */
  static final Map<String, String> INDEXES = Map.of(
      BROKER_TIME_INDEX, " ON %s (broker_time)", "batches_identity", " ON %s (incarnation, sequence)");

  /**
   * Tables whose rows are replaced by every roll. With free room in its page, a row's next version needs no new entry
   * in the index.
   */
  private static final List<String> REPLACED = List.of("latest", "routes_by_partition");

  /** Attempts to change a table that is in use; half a minute in all. */
  private static final int MAX_ATTEMPTS = 60;

  private static final long PAUSE_NS = 300_000_000;
  private static final Logger LOG = LoggerFactory.getLogger(Schema.class);

  private final PostgresOptions options;
  private final String name;

  Schema(PostgresOptions options) {
    this.options = options;
    this.name = options.schema();
  }

  /** Returns the quoted name of a public table or view. */
  String own(String table) {
    return Sql.identifier(name) + "." + Sql.identifier(table);
  }

  /** Returns what precedes the name of an event table, or one of its partitions, in its quoted name. */
  String data() {
    return Sql.identifier(name + DATA) + ".";
  }

  /** Returns the quoted name of an event table or one of its partitions. */
  String data(String table) {
    return data() + Sql.identifier(table);
  }

  /**
   * Creates what is missing and checks what exists.
   *
   * @param expected id of the archive; null if it is not known yet
   * @return the archive's id
   * @throws ArchiveUnavailableException if the expected archive is not there: the schema was dropped or replaced
   */
  String create(Connection connection, String expected) throws SQLException, IOException {
    lockDefinitions(connection);
    try (Statement statement = connection.createStatement()) {
      checkEncoding(statement);
      if (expected != null) {
        requireId(connection, expected);
      } else if (!has(statement, "archive")) {
        statement.execute("CREATE SCHEMA IF NOT EXISTS " + Sql.identifier(name));
        statement.execute("CREATE SCHEMA IF NOT EXISTS " + Sql.identifier(name + DATA));
        createTables(statement);
        for (Map.Entry<String, String> index : INDEXES.entrySet()) {
          statement.execute("CREATE INDEX " + Sql.identifier(index.getKey())
              + String.format(Locale.ROOT, index.getValue(), own("batches")));
        }
        new Views(this).createFixed(statement);
        statement.execute("INSERT INTO " + own("archive") + " VALUES (" + VERSION + ", "
            + options.partition().toSeconds() + ", " + Sql.literal(UUID.randomUUID().toString()) + ")");
      }
      check(statement);
      connection.commit();
      addNewer(connection, statement);
      return id(connection);
    } finally {
      unlockDefinitions(connection);
    }
  }

  /** Returns the archive's id; null if there is no archive, or one that an earlier release made. */
  private String id(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      if (!has(statement, "archive") || !hasColumn(statement, "archive", "id")) {
        return null;
      }
      try (ResultSet row = statement.executeQuery("SELECT id FROM " + own("archive"))) {
        return row.next() ? row.getString(1) : null;
      }
    }
  }

  /** @throws ArchiveUnavailableException if the schema no longer holds that archive */
  void requireId(Connection connection, String expected) throws SQLException, ArchiveUnavailableException {
    String found = id(connection);
    if (!expected.equals(found)) {
      throw new ArchiveUnavailableException("the archive " + expected + " is not in schema " + name + " of "
          + options.url() + " (" + (found == null ? "no archive" : "the archive " + found) + " is there): restore it;"
          + " to write to this schema nevertheless, restart the jobs", null);
    }
  }

  /**
   * Adds columns and views that archives of earlier releases lack. Those releases can still write to the archive: they
   * do not update {@code last_message}, so {@code last_message_next} records the position it belongs to.
   */
  private void addNewer(Connection connection, Statement statement) throws SQLException {
    addColumn(connection, statement, "archive", "id", "text");
    addColumn(connection, statement, "positions", "refused", "text");
    addColumn(connection, statement, "batches", "crc", "bigint");
    addColumn(connection, statement, "positions", "source", "text");
    addColumn(connection, statement, "positions", "last_message", "bigint");
    addColumn(connection, statement, "positions", "last_message_next", "bigint");
    statement.executeUpdate("UPDATE " + own("archive") + " SET id = "
        + Sql.literal(UUID.randomUUID().toString()) + " WHERE id IS NULL");
    if (statement.executeUpdate("UPDATE " + own("archive") + " SET version = " + VERSION_OF_SHARING
        + " WHERE version = " + FIRST_VERSION_OF_SHARING) > 0) {
      statement.execute("UPDATE " + own("types") + " SET data_table = "
          + Sql.literal(EventTable.SHARED_IN_CATALOGUE) + " WHERE data_table = " + Sql.literal(EventTable.SHARED));
    }
    connection.commit();
    addSessions(connection, statement);
    addJournal(statement);
    connection.commit();
    for (String table : REPLACED) {
      leaveRoom(connection, statement, table);
    }
  }

  /** Creates the views over sessions, or replaces those of an earlier release, unless an event type has such a name. */
  private void addSessions(Connection connection, Statement statement) throws SQLException {
    int present = 0;
    for (String view : Views.SESSIONS) {
      present += has(statement, view) ? 1 : 0;
    }
    boolean areOld = present == Views.SESSIONS.size() && !hasRelation(statement, data(Views.MARKS))
        && isTrue(statement, "NOT EXISTS (SELECT FROM " + own("types") + " WHERE view = ANY (ARRAY"
            + Sql.literals(Views.SESSIONS) + "))");
    if (present == 0 || areOld) {
      changeUnlessInUse(connection, statement, () -> new Views(this).createSessions(statement));
    }
  }

  /** Its texts are read once at most, and soon deleted: compressing them would cost more than it saves. */
  private void addJournal(Statement statement) throws SQLException {
    String journal = data(LatestTable.JOURNAL);
    if (!hasRelation(statement, journal)) {
      statement.execute("CREATE TABLE " + journal + " (" + LatestTable.JOURNAL_DEFINITION + ")");
      statement.execute("ALTER TABLE " + journal + " ALTER COLUMN rows SET STORAGE EXTERNAL");
    }
  }

  private void leaveRoom(Connection connection, Statement statement, String table) throws SQLException {
    if (isTrue(statement, "reloptions IS NULL FROM pg_class WHERE oid = " + Sql.literal(own(table)) + "::regclass")) {
      changeUnlessInUse(connection, statement,
          () -> statement.execute("ALTER TABLE " + own(table) + " SET (fillfactor = 50)"));
    }
  }

  private interface Change {
    void make() throws SQLException;
  }

  /** Makes a change that can wait; if its object is in use, it is tried again when the archive is next opened. */
  private void changeUnlessInUse(Connection connection, Statement statement, Change change) throws SQLException {
    try {
      waitBriefly(statement);
      change.make();
      connection.commit();
    } catch (SQLException e) {
      if (!Database.isInUse(e)) {
        throw e;
      }
      connection.rollback();
    }
  }

  /** Adds a column without blocking others: tries briefly, and repeats until the table is not in use. */
  private void addColumn(Connection connection, Statement statement, String table, String column, String type)
      throws SQLException {
    if (hasColumn(statement, table, column)) {
      return;
    }
    for (int attempt = 1; ; attempt++) {
      try {
        waitBriefly(statement);
        statement.execute("ALTER TABLE " + own(table) + " ADD COLUMN " + column + " " + type);
        connection.commit();
        return;
      } catch (SQLException e) {
        connection.rollback();
        if (attempt == MAX_ATTEMPTS || !Database.isInUse(e)) {
          throw e;
        }
        if (attempt == 1) {
          LOG.info("the archive needs the new column {}.{}: waiting until the table is not in use",
              own(table), column);
        }
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
  }

  private boolean hasColumn(Statement statement, String table, String column) throws SQLException {
    return isTrue(statement, "EXISTS (SELECT FROM pg_attribute WHERE attrelid = " + Sql.literal(own(table))
        + "::regclass AND attname = " + Sql.literal(column) + " AND NOT attisdropped)");
  }

  private void checkEncoding(Statement statement) throws SQLException, ArchiveException {
    try (ResultSet row = statement.executeQuery("SHOW server_encoding")) {
      row.next();
      if (!row.getString(1).equals("UTF8")) {
        throw new ArchiveException("the database " + options.url() + " has the encoding " + row.getString(1)
            + ": an archive needs one that was created with ENCODING 'UTF8'");
      }
    }
  }

  /** Returns whether the public schema has a relation of that name: a table, view or index. */
  boolean has(Statement statement, String relation) throws SQLException {
    return hasRelation(statement, own(relation));
  }

  /** Returns whether there is a relation of that quoted name. */
  static boolean hasRelation(Statement statement, String name) throws SQLException {
    return isTrue(statement, "to_regclass(" + Sql.literal(name) + ") IS NOT NULL");
  }

  private static boolean isTrue(Statement statement, String condition) throws SQLException {
    try (ResultSet row = statement.executeQuery("SELECT " + condition)) {
      row.next();
      return row.getBoolean(1);
    }
  }

  private void check(Statement statement) throws SQLException, ArchiveException {
    try (ResultSet row = statement.executeQuery("SELECT version, partition_s FROM " + own("archive"))) {
      row.next();
      if (row.getInt(1) > VERSION_OF_SHARING) {
        throw new ArchiveException("the archive in " + options.url() + " has version " + row.getInt(1)
            + ", which this program does not know: use the program that made it, or a newer one");
      }
      if (row.getLong(2) != options.partition().toSeconds()) {
        throw new ArchiveException("the archive in " + options.url() + " was made with archive.partition="
            + row.getLong(2) / 3600 + "h: set that, or give this one another archive.schema");
      }
    }
  }

  private void createTables(Statement statement) throws SQLException {
    String counters = Arrays.stream(Counter.values())
        .map(counter -> counter.label() + " numeric NOT NULL").collect(Collectors.joining(", "));
    statement.execute("CREATE TABLE " + own("archive") + " (version integer NOT NULL, partition_s bigint NOT NULL,"
        + " id text)");
    statement.execute("CREATE TABLE " + own("positions") + " (partition integer PRIMARY KEY, next bigint NOT NULL,"
        + " duplicates bigint NOT NULL, rejected bigint NOT NULL, written timestamptz NOT NULL)");
    statement.execute("CREATE TABLE " + own("types") + " (id text PRIMARY KEY, name text NOT NULL, version smallint NOT"
        + " NULL, hash text NOT NULL, level text NOT NULL, fields jsonb NOT NULL, constants jsonb NOT NULL, columns"
        + " text[] NOT NULL, data_table text NOT NULL, view text NOT NULL, UNIQUE (name, version))");
    statement.execute("CREATE TABLE " + own("time_partitions") + " (data_table text NOT NULL, number bigint NOT NULL,"
        + " partition text NOT NULL UNIQUE, ends timestamptz, PRIMARY KEY (data_table, number))");
    statement.execute("CREATE TABLE " + own("batches") + " (batch bigint PRIMARY KEY, partition integer NOT NULL,"
        + " \"offset\" bigint NOT NULL, broker_time timestamptz NOT NULL, incarnation text NOT NULL, route integer NOT"
        + " NULL, route_name text NOT NULL, sequence numeric NOT NULL, host text NOT NULL, program text NOT NULL, pid"
        + " bigint NOT NULL, events integer NOT NULL, final boolean NOT NULL, recovered boolean NOT NULL,"
        + " clock_uncertain boolean NOT NULL, context jsonb NOT NULL, " + counters + ")");
    statement.execute("CREATE TABLE " + own("routes_by_partition") + " (partition integer NOT NULL, incarnation text"
        + " NOT NULL, route integer NOT NULL, route_name text NOT NULL, host text NOT NULL, program text NOT NULL, pid"
        + " bigint NOT NULL, runs text NOT NULL, batches bigint NOT NULL, archived bigint NOT NULL, last_sequence"
        + " numeric NOT NULL, final boolean NOT NULL, recovered boolean NOT NULL, last_broker_time timestamptz NOT"
        + " NULL, " + counters + ", PRIMARY KEY (partition, incarnation, route))");
    statement.execute("CREATE TABLE " + own("latest") + " (type text NOT NULL, incarnation text NOT NULL, ts"
        + " timestamptz NOT NULL, ts_ns bigint NOT NULL, level text NOT NULL, host text NOT NULL,"
        + " program text NOT NULL, sequence numeric NOT NULL, event_index integer NOT NULL, id text,"
        + " fields jsonb NOT NULL, PRIMARY KEY (type, incarnation))");
  }

  /** Creates the table that types share, unless it exists; returns whether it did. */
  boolean createShared(Statement statement) throws SQLException {
    if (hasRelation(statement, data(EventTable.SHARED))) {
      return false;
    }
    statement.execute("CREATE TABLE " + data(EventTable.SHARED) + " (" + EventTable.COMMON_DEFINITION + ", "
        + EventTable.SHARED_DEFINITION + ") PARTITION BY RANGE (ts)");
    statement.execute("CREATE INDEX ON " + data(EventTable.SHARED) + " (\"@type\")");
    statement.execute("UPDATE " + own("archive") + " SET version = " + VERSION_OF_SHARING);
    return true;
  }

  /** Takes the lock for creating indexes until the connection ends; returns whether it was free. */
  boolean tryLockIndexes(Connection connection) throws SQLException {
    return tryLockPartition(connection, MAKING_INDEXES);
  }

  /** Takes a partition until it is unlocked or the connection ends; returns whether it was free. */
  boolean tryLockPartition(Connection connection, int partition) throws SQLException {
    try (PreparedStatement lock = connection.prepareStatement("SELECT pg_try_advisory_lock(hashtext(?), ?)")) {
      lock.setString(1, name);
      lock.setInt(2, partition);
      try (ResultSet row = lock.executeQuery()) {
        row.next();
        return row.getBoolean(1);
      }
    }
  }

  void unlockPartition(Connection connection, int partition) throws SQLException {
    advise(connection, "pg_advisory_unlock", partition);
  }

  /** Takes the lock on definitions: only one writer at a time changes tables and views. */
  void lockDefinitions(Connection connection) throws SQLException {
    advise(connection, "pg_advisory_lock", DEFINITIONS);
  }

  /** Takes the lock on definitions if it is free; returns whether it was. */
  boolean tryLockDefinitions(Connection connection) throws SQLException {
    return tryLockPartition(connection, DEFINITIONS);
  }

  /** Releases the lock on definitions; first rolls back the transaction, in case it has failed. */
  void unlockDefinitions(Connection connection) throws SQLException {
    if (!connection.isClosed()) {
      connection.rollback();
      advise(connection, "pg_advisory_unlock", DEFINITIONS);
      connection.commit();
    }
  }

  /**
   * Sets a short lock timeout for the rest of the transaction: a pending table change blocks all later readers, and the
   * current reader may take hours.
   */
  void waitBriefly(Statement statement) throws SQLException {
    waitAtMost(statement, 200);
  }

  /** As {@link #waitBriefly}, with another timeout. */
  static void waitAtMost(Statement statement, int ms) throws SQLException {
    statement.execute("SET LOCAL lock_timeout = " + ms);
  }

  private void advise(Connection connection, String function, int number) throws SQLException {
    try (PreparedStatement lock = connection.prepareStatement("SELECT " + function + "(hashtext(?), ?)")) {
      lock.setString(1, name);
      lock.setInt(2, number);
      lock.execute();
    }
  }
}
