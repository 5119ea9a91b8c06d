package io.lifeline.jobs.archive;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Generates the SQL of the views over sessions. It is the same for all storages except for what the constructor gets.
 *
 * <p>An event belongs to the session whose ID is in its field {@code session}, else to that of its batch's context, and
 * to all sessions in which that one began. Samples of a host (types {@code host.*}) also belong to the sessions that
 * had programs on it at their time.
 *
 * @param events SQL of the source of all events, with the columns of the view {@code events}
 * @param marks as {@code events}, of the types {@code session.start} and {@code session.end} only
 * @param hosts as {@code events}, of the types {@code host.*} only
 * @param batches name of the view of batches
 * @param sessionTypes SQL of the list of those types that have a field {@code session}, in parentheses
 * @param timeNs SQL of an event's time in nanoseconds
 * @param brokerTime SQL of a batch's broker time, of the type of {@code ts}
 * @param brokerNs SQL of the same in nanoseconds
 */
public record SessionViews(String events, String marks, String hosts, String batches, String sessionTypes,
    String timeNs, String brokerTime, String brokerNs) {
  public static final String START = "session.start";
  public static final String END = "session.end";
  public static final Set<String> MARKS = Set.of(START, END);
  public static final String HOST_TYPES = "host.";

  /** Sessions within sessions; a longer chain can only be a forged one. */
  private static final int MAX_DEPTH = 16;

  /** Other fields {@code session} are those of a program that uses the word for something else. */
  private static final String ID = "'^[0-9a-f]{32}$'";

  private static final String COLUMNS =
      "type, level, host, program, pid, thread, incarnation, route, sequence, event_index, id, fields";

  /** Returns the SQL of each view by its name, in the order in which they can be created. */
  public Map<String, String> sql(String members, String sessions) {
    Map<String, String> views = new LinkedHashMap<>();
    views.put("session_members", members());
    views.put("sessions", sessions(members));
    views.put("session_events", sessionEvents(members, sessions));
    return views;
  }

  /** Some storages show bytes in JSON with a prefix. */
  private static String hex(String field) {
    return "nullif(ltrim(fields->>'" + field + "', '\\x'), '')";
  }

  private String marksSql() {
    return "SELECT type, ts, " + timeNs + " AS ts_ns, " + hex("id") + " AS session, " + hex("parent") + " AS parent,"
        + " fields->>'name' AS name, (fields->>'ok') = 'true' AS ok FROM (" + marks + ") AS marks WHERE "
        + hex("id") + " IS NOT NULL";
  }

  /** The batches that name a session. */
  private String carriedSql() {
    return "SELECT nullif(context->>'session', '') AS session, nullif(context->>'parent', '') AS parent, host, program,"
        + " incarnation, route, sequence, events, " + brokerTime + " AS broker_ts, " + brokerNs + " AS broker_ns FROM "
        + batches
        + " WHERE nullif(context->>'session', '') IS NOT NULL";
  }

  /** Each session with itself and all sessions that began in it. */
  private String members() {
    return "WITH RECURSIVE links AS (SELECT session, parent FROM (" + marksSql() + ") AS marked"
        + " UNION SELECT session, parent FROM (" + carriedSql() + ") AS carried),"
        + " tree (session, member, depth) AS (SELECT DISTINCT session, session, 0 FROM links"
        + " UNION SELECT tree.session, links.session, tree.depth + 1 FROM tree JOIN links ON links.parent = tree.member"
        + " WHERE tree.depth < " + MAX_DEPTH + ") SELECT DISTINCT session, member FROM tree";
  }

  /** A trace that several commands join has as many starts and ends; it has ended when all have. */
  private String sessions(String members) {
    return "SELECT s.session, s.parent, m.name, m.started, m.ended, m.ok, c.hosts, c.programs,"
        + " coalesce(c.events, 0) AS events, c.first_seen, c.last_seen,"
        + " coalesce(m.started_ns, c.first_seen_ns) AS from_ns, coalesce(m.ended_ns, c.last_seen_ns) AS to_ns FROM"
        + " (SELECT session, max(nullif(parent, session)) AS parent FROM (SELECT session, parent FROM (" + marksSql()
        + ") AS marked"
        + " UNION ALL SELECT session, parent FROM (" + carriedSql() + ") AS carried) AS known GROUP BY session) AS s"
        + " LEFT JOIN (SELECT session, string_agg(DISTINCT name, ', ' ORDER BY name) AS name, "
        + min(START, "ts") + " AS started, " + min(START, "ts_ns") + " AS started_ns, "
        + onceEnded(max(END, "ts")) + " AS ended, " + onceEnded(max(END, "ts_ns")) + " AS ended_ns, "
        + onceEnded("bool_and(ok)") + " AS ok FROM (" + marksSql() + ") AS marked GROUP BY session) AS m"
        + " ON m.session = s.session"
        + " LEFT JOIN (SELECT t.session, string_agg(DISTINCT b.host, ', ' ORDER BY b.host) AS hosts,"
        + " string_agg(DISTINCT b.program, ', ' ORDER BY b.program) AS programs, sum(b.events)::bigint AS events,"
        + " min(b.broker_ts) AS first_seen, max(b.broker_ts) AS last_seen, min(b.broker_ns) AS first_seen_ns,"
        + " max(b.broker_ns) AS last_seen_ns FROM " + members + " AS t JOIN (" + carriedSql()
        + ") AS b ON b.session = t.member GROUP BY t.session) AS c ON c.session = s.session";
  }

  private static String min(String type, String column) {
    return "min(CASE WHEN type = '" + type + "' THEN " + column + " END)";
  }

  private static String max(String type, String column) {
    return "max(CASE WHEN type = '" + type + "' THEN " + column + " END)";
  }

  private static String onceEnded(String value) {
    return "CASE WHEN " + count(END) + " >= " + count(START) + " THEN " + value + " END";
  }

  private static String count(String type) {
    return "sum(CASE WHEN type = '" + type + "' THEN 1 ELSE 0 END)";
  }

  private String sessionEvents(String members, String sessions) {
    return "SELECT t.session, e.ts, e.ts_ns, " + qualified("e") + ", 'session' AS via FROM (" + owned(events)
        + ") AS e JOIN " + members + " AS t ON t.member = e.own"
        + " UNION ALL SELECT s.session, e.ts, e.ts_ns, " + qualified("e") + ", 'host' AS via FROM (" + owned(hosts)
        + ") AS e JOIN (SELECT DISTINCT t.session, b.host, coalesce(s.started, s.first_seen) AS begins,"
        + " coalesce(s.ended, s.last_seen) AS ends FROM " + members + " AS t JOIN (" + carriedSql()
        + ") AS b ON b.session = t.member JOIN " + sessions + " AS s ON s.session = t.session) AS s"
        + " ON s.host = e.host AND e.ts BETWEEN s.begins AND s.ends"
        + " LEFT JOIN " + members + " AS already ON already.session = s.session AND already.member = e.own"
        + " WHERE already.session IS NULL";
  }

  /** The events with the session that each names itself: {@code own}. */
  private String owned(String source) {
    return "SELECT r.*, coalesce(r.named, b.session) AS own FROM (SELECT ts, " + timeNs + " AS ts_ns, " + COLUMNS
        + ", CASE WHEN type IN " + sessionTypes + " AND " + hex("session") + " ~ " + ID + " THEN " + hex("session")
        + " END AS named FROM (" + source + ") AS source) AS r LEFT JOIN (" + carriedSql()
        + ") AS b ON b.incarnation = r.incarnation AND b.route = r.route AND b.sequence = r.sequence";
  }

  private static String qualified(String table) {
    return table + "." + COLUMNS.replace(", ", ", " + table + ".");
  }
}
