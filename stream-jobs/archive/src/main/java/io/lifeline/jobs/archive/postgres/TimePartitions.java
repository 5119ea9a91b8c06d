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
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partitions of the event tables, by event time. They are created on demand, and dropped as a whole by
 * {@link Expiry}. Rows far from the current time go to a default partition, so that a broken clock cannot create any
 * number of partitions; they are moved when their time gets its own partition.
 */
final class TimePartitions {
  private static final Logger LOG = LoggerFactory.getLogger(TimePartitions.class);

  /** Number of the default partition, for all other times. */
  static final long OTHER = Long.MIN_VALUE;

  /** Rows older than this, or further ahead than one partition, are far from the current time. */
  private static final Duration NEAR = Duration.ofDays(31);

  /** New partitions in one transaction, which locks each of them. */
  private static final int CHUNK = 200;

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

  /** Returns a table name that leaves room for the suffixes of its partitions. */
  static String fit(String name) {
    String fitted = PostgresText.fit(name, LONGEST_SUFFIX);
    return fitted.substring(0, fitted.length() - LONGEST_SUFFIX.length());
  }

  /** Returns whether a partition of another table may have that name. */
  static boolean mayBeCalled(String table) {
    return SUFFIX.matcher(table).find();
  }

  /** Returns the partition number of a time, counted from 1970; {@link #OTHER} far from now. */
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

  /** Returns the end of the run of times, starting at {@code from}, that belong to the same partition. */
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

  /** A partition of a table; its {@link #target} is known after {@link #prepare}. */
  record Place(String dataTable, long number) {}

  /**
   * Returns where to write rows: the partition, or for other times the table, because their partition may exist by now.
   */
  String target(Place place) {
    return place.number() == OTHER ? place.dataTable() : known.get(place);
  }

  /** Creates missing partitions. Commits. */
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
    forgetDropped(numbers);
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

  /** Takes partitions off the list that somebody else has dropped, so that they are made anew. */
  private void forgetDropped(Set<Long> numbers) throws SQLException {
    try (PreparedStatement query = connection.prepareStatement("DELETE FROM " + schema.own("time_partitions")
        + " WHERE number = ANY (?) AND to_regclass(" + Sql.literal(schema.data()) + " || quote_ident(partition))"
        + " IS NULL RETURNING partition")) {
      query.setArray(1, connection.createArrayOf("bigint", numbers.toArray()));
      try (ResultSet rows = query.executeQuery()) {
        while (rows.next()) {
          LOG.warn("the table {} of the archive was dropped, and its events with it; it is made anew if more come",
              schema.data(rows.getString(1)));
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
    // ATTACH PARTITION rather than PARTITION OF, which would wait for all readers of the table.
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

  Duration length() {
    return Duration.ofNanos(lengthNs);
  }

  /** Returns the start of the partition that a time is in, in SQL. */
  String startOf(long ms) {
    return time(Math.floorDiv(ms * 1_000_000, lengthNs));
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
}
