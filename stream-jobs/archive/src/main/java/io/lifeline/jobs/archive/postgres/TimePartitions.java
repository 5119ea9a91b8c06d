package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The partitions of the events' tables, by event time. They are made when rows come for them, and dropped as a whole
 * when they are too old. Rows far from the present go to a partition for all other times, so that no broken clock makes
 * partitions without end; what is in there moves when its time gets a partition of its own.
 */
final class TimePartitions {
  /** The number of the partition for all other times. */
  static final long OTHER = Long.MIN_VALUE;

  /** Rows that are older than this, or further ahead than one partition, are far from the present. */
  private static final Duration NEAR = Duration.ofDays(31);

  /** New partitions in one transaction, which locks each of them. */
  private static final int CHUNK = 200;

  /** After so many partitions in use, the others are not tried: a backup uses all of them. */
  private static final int MOST_IN_USE = 10;

  /** So many rows are deleted in one transaction, and so many times until the writer goes on. */
  private static final int DELETE_ROWS = 20_000;

  private static final int DELETE_ROUNDS = 10;

  private static final String OTHER_SUFFIX = ":other";
  private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("':'uuuuMMdd").withZone(ZoneOffset.UTC);
  private static final DateTimeFormatter HOUR =
      DateTimeFormatter.ofPattern("':'uuuuMMdd'T'HH").withZone(ZoneOffset.UTC);
  private static final String LONGEST_SUFFIX = ":20261121T00";
  private static final Pattern SUFFIX = Pattern.compile(":(other|\\d{8}(T\\d\\d)?)\\z");

  private final Connection connection;
  private final Schema schema;
  private final long lengthNs;
  private final Map<Place, String> known = new HashMap<>();

  TimePartitions(Connection connection, Schema schema, Duration length) {
    this.connection = connection;
    this.schema = schema;
    this.lengthNs = length.toNanos();
  }

  /** A name for a table that leaves room for those of its partitions. */
  static String fit(String name) {
    String fitted = PostgresText.fit(name, LONGEST_SUFFIX);
    return fitted.substring(0, fitted.length() - LONGEST_SUFFIX.length());
  }

  /** Whether a partition of another table may be called like that. */
  static boolean mayBeCalled(String table) {
    return SUFFIX.matcher(table).find();
  }

  /** The number of the partition of a time, counted from 1970; {@link #OTHER} far from now. */
  long number(long timeNs, long nowMs) {
    long number = Math.floorDiv(timeNs, lengthNs);
    return number < first(nowMs) || number > last(nowMs) ? OTHER : number;
  }

  private long first(long nowMs) {
    return Math.floorDiv((nowMs - NEAR.toMillis()) * 1_000_000, lengthNs);
  }

  private long last(long nowMs) {
    return Math.floorDiv(nowMs * 1_000_000, lengthNs) + 1;
  }

  /** Where the run of times from {@code from} on that belong to the same partition ends. */
  int endOfRun(long[] times, int from, int count, long number, long nowMs) {
    int to = from + 1;
    if (number == OTHER) {
      while (to < count && number(times[to], nowMs) == OTHER) {
        to++;
      }
    } else {
      long start = number * lengthNs;
      while (to < count && times[to] >= start && times[to] - start < lengthNs) {
        to++;
      }
    }
    return to;
  }

  /** A partition of a table; its {@link #target} is known once it has been {@link #prepare}d. */
  record Place(String dataTable, long number) {}

  /** Where rows are written: the partition, or for all other times the table, whose partition they may have by now. */
  String target(Place place) {
    return place.number() == OTHER ? place.dataTable() : known.get(place);
  }

  /** Makes those of the partitions that are missing. Commits. */
  void prepare(Collection<Place> places) throws SQLException {
    if (known.keySet().containsAll(places)) {
      return;
    }
    schema.lockDefinitions(connection);
    try (Statement statement = connection.createStatement()) {
      load(places);
      int made = 0;
      for (Place place : places) {
        if (!known.containsKey(place)) {
          make(statement, place);
          if (++made % CHUNK == 0) {
            connection.commit();
          }
        }
      }
      connection.commit();
    } catch (SQLException e) {
      forget();
      throw e;
    } finally {
      schema.unlockDefinitions(connection);
    }
  }

  void forget() {
    known.clear();
  }

  private void load(Collection<Place> places) throws SQLException {
    Set<Long> numbers = new TreeSet<>(Set.of(OTHER));
    places.forEach(place -> numbers.add(place.number()));
    try (PreparedStatement query = connection.prepareStatement("SELECT data_table, number, partition FROM "
        + schema.own("time_partitions") + " WHERE number = ANY (?)")) {
      query.setArray(1, connection.createArrayOf("bigint", numbers.toArray()));
      try (ResultSet rows = query.executeQuery()) {
        while (rows.next()) {
          known.put(new Place(rows.getString(1), rows.getLong(2)), rows.getString(3));
        }
      }
    }
  }

  private void make(Statement statement, Place place) throws SQLException {
    long number = place.number();
    String name = place.dataTable() + suffix(number);
    String partition = schema.data(name);
    String table = schema.data(place.dataTable());
    String other = known.get(new Place(place.dataTable(), OTHER));
    // Attached, and not made as a partition, for which all who read the table would have to end first.
    statement.execute("CREATE TABLE " + partition + " (LIKE " + table + ")");
    if (number != OTHER && other != null) {
      statement.execute("WITH moved AS (DELETE FROM " + schema.data(other) + " WHERE ts >= " + time(number)
          + " AND ts < " + time(number + 1) + " RETURNING *) INSERT INTO " + partition + " SELECT * FROM moved");
    }
    statement.execute("ALTER TABLE " + table + " ATTACH PARTITION " + partition
        + (number == OTHER ? " DEFAULT" : bounds(number)));
    insert(statement, place.dataTable(), number, name);
    known.put(place, name);
  }

  private void insert(Statement statement, String dataTable, long number, String name) throws SQLException {
    statement.execute("INSERT INTO " + schema.own("time_partitions") + " VALUES (" + Sql.literal(dataTable) + ", "
        + number + ", " + Sql.literal(name) + ", " + (number == OTHER ? "NULL" : time(number + 1)) + ")");
  }

  private String suffix(long number) {
    if (number == OTHER) {
      return OTHER_SUFFIX;
    }
    boolean wholeDays = lengthNs % Duration.ofDays(1).toNanos() == 0;
    return (wholeDays ? DAY : HOUR).format(start(number));
  }

  private Instant start(long number) {
    return Instant.ofEpochSecond(number * (lengthNs / 1_000_000_000));
  }

  private String time(long number) {
    return "'" + start(number) + "'::timestamptz";
  }

  private String bounds(long number) {
    return " FOR VALUES FROM (" + time(number) + ") TO (" + time(number + 1) + ")";
  }

  /**
   * Drops the partitions that end before the retention, and what was received before it of the other times. Those that
   * somebody uses are left for the next time. Rows are deleted some at a time, each in a transaction that ends soon:
   * the writer has other things to do, and one that is cut off keeps what it has done. Commits.
   *
   * @return whether nothing is left to do now
   */
  boolean expire(Duration retention, long nowMs) throws SQLException {
    String cutoff = time(Math.floorDiv((nowMs - retention.toMillis()) * 1_000_000, lengthNs));
    String batches = schema.own("batches");
    schema.lockDefinitions(connection);
    try (Statement statement = connection.createStatement()) {
      int inUse = 0;
      for (String name : names(statement, "ends <= " + cutoff)) {
        if (inUse < MOST_IN_USE && !drop(statement, name)) {
          inUse++;
        }
      }
      boolean isComplete = deleteSome(statement, schema.own("latest"), "ctid", "ts < " + cutoff);
      for (String name : names(statement, "ends IS NULL")) {
        isComplete &= deleteSome(statement, schema.data(name), "ctid",
            "\"@batch\" IN (SELECT batch FROM " + batches + " WHERE broker_time < " + cutoff + ")");
      }
      // Events may be a partition ahead of their batch; those of the other times go before it.
      isComplete = isComplete && deleteSome(statement, batches, "batch", "broker_time < " + cutoff + " - interval '"
          + 2 * (lengthNs / 1_000_000_000) + " seconds'");
      forget();
      return isComplete;
    } finally {
      schema.unlockDefinitions(connection);
    }
  }

  /** Deletes rows, up to a limit; says whether there are no more. */
  private boolean deleteSome(Statement statement, String table, String key, String condition) throws SQLException {
    for (int round = 0; round < DELETE_ROUNDS; round++) {
      int deleted = statement.executeUpdate("DELETE FROM " + table + " WHERE " + key + " IN (SELECT " + key + " FROM "
          + table + " WHERE " + condition + " LIMIT " + DELETE_ROWS + ")");
      connection.commit();
      if (deleted < DELETE_ROWS) {
        return true;
      }
    }
    return false;
  }

  /** Drops a partition, in a transaction of its own: one that a long query uses must not keep the others. */
  private boolean drop(Statement statement, String name) throws SQLException {
    try {
      schema.waitBriefly(statement);
      statement.execute("DROP TABLE " + schema.data(name));
      statement.execute("DELETE FROM " + schema.own("time_partitions") + " WHERE partition = " + Sql.literal(name));
      connection.commit();
      return true;
    } catch (SQLException e) {
      if (!Database.isInUse(e)) {
        throw e;
      }
      connection.rollback();
      return false;
    }
  }

  private List<String> names(Statement statement, String condition) throws SQLException {
    List<String> names = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery(
        "SELECT partition FROM " + schema.own("time_partitions") + " WHERE " + condition + " ORDER BY ends")) {
      while (rows.next()) {
        names.add(rows.getString(1));
      }
    }
    return names;
  }
}
