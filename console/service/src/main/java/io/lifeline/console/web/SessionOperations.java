package io.lifeline.console.web;

import com.fasterxml.jackson.databind.JsonNode;
import io.lifeline.console.archive.Question;
import io.lifeline.console.archive.QuestionException;
import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.report.Report;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The sessions in the archive, and what belongs to one. */
public final class SessionOperations implements Operations {
  private static final int MOST = 1_000;
  private static final int MOST_TYPES = 1_000;
  private static final int LONGEST_LIST = 1_000;
  private static final long CLOCKS_NS = 60_000_000_000L;

  private static final Parameter<String> TEXT =
      Parameter.text("text", "only sessions whose ID, name, programs or hosts contain this text");
  private static final Parameter<String> ID = Parameter.text("session", "ID of a session").ofPath();

  static final Map<String, Question> QUESTIONS =
      Map.of("sessions", SessionOperations::found, "session", SessionOperations::content);

  private final ArchiveQuestions archive;

  public SessionOperations(ArchiveQuestions archive) {
    this.archive = archive;
  }

  @Override
  public List<Operation> all() {
    return List.of(
        Operation.get("/sessions", "Sessions, the newest first", Sessions.class, this::list, TEXT),
        Operation.get("/sessions/{session}", "What belongs to a session, and its bottleneck", SessionContent.class,
            this::one, ID));
  }

  /**
   * A session.
   *
   * @param parent null for none
   * @param name null if it was only named in the context of batches
   * @param from first nanosecond since 1970; null if unknown
   * @param ended false if no end is archived: it is still open, or its process was killed
   * @param ok null if it has not ended
   * @param hosts names, with a comma between
   */
  record Session(String session, String parent, String name, String from, String to, boolean ended, Boolean ok,
      String hosts, String programs, long events) {}

  /** @param complete false if there are more */
  record Sessions(List<Session> sessions, boolean complete) {}

  /** @param via {@code session}: its programs emitted them or they name it; {@code host}: its hosts did meanwhile */
  record TypeCount(String type, String via, String host, long events) {}

  /**
   * @param children sessions that began in it
   * @param bottleneck a sentence
   */
  record SessionContent(Session session, List<Session> children, List<TypeCount> types, String bottleneck,
      String stage) {}

  private Object list(Call call) {
    String text = call.get(TEXT);
    String where = text == null || text.isBlank() ? "true"
        : "position(lower(" + Sql.literal(text) + ") in lower(concat_ws(' ', session, name, programs, hosts))) > 0";
    return archive.ask(call, "sessions", Map.of("where", where));
  }

  private static Object found(ArchiveReader reader, JsonNode asked) throws SQLException {
    List<Session> sessions = sessions(reader, asked.path("where").asText());
    return new Sessions(sessions.subList(0, Math.min(MOST, sessions.size())), sessions.size() <= MOST);
  }

  private Object one(Call call) {
    return archive.ask(call, "session", Map.of("id", call.get(ID)));
  }

  private static Object content(ArchiveReader reader, JsonNode asked) throws SQLException, QuestionException {
    String id = Sql.literal(asked.path("id").asText());
    List<Session> found = sessions(reader, "session = " + id);
    if (found.isEmpty()) {
      throw new QuestionException(404, "the archive has no such session");
    }
    Session session = found.get(0);
    Report report = Report.ofSession(reader, asked.path("id").asText());
    return new SessionContent(session, sessions(reader, "parent = " + id), types(reader, session, id),
        report.sentence(), report.component());
  }

  private static List<Session> sessions(ArchiveReader reader, String where) throws SQLException {
    List<Session> sessions = new ArrayList<>();
    try (PreparedStatement query = reader.prepare("SELECT session, parent, name, from_ns, to_ns, ended IS NOT NULL,"
        + " ok, substr(hosts, 1, " + LONGEST_LIST + "), substr(programs, 1, " + LONGEST_LIST + "), events FROM sessions"
        + " WHERE " + where + " ORDER BY from_ns DESC NULLS LAST, session LIMIT " + (MOST + 1));
        ResultSet row = query.executeQuery()) {
      while (row.next()) {
        boolean value = row.getBoolean(7);
        Boolean ok = row.wasNull() ? null : value;
        sessions.add(new Session(row.getString(1), row.getString(2), row.getString(3), row.getString(4),
            row.getString(5), row.getBoolean(6), ok, row.getString(8), row.getString(9),
            row.getLong(10)));
      }
    }
    return sessions;
  }

  /** Lets the storage skip other times; events may lie a little outside, since clocks of hosts differ. */
  private static String span(ArchiveReader reader, Session session) {
    return session.from() == null || session.to() == null ? "true"
        : reader.within(Long.parseLong(session.from()) - CLOCKS_NS, Long.parseLong(session.to()) + CLOCKS_NS);
  }

  private static List<TypeCount> types(ArchiveReader reader, Session session, String id) throws SQLException {
    List<TypeCount> types = new ArrayList<>();
    try (PreparedStatement query = reader.prepare("SELECT type, via, host, count(*) FROM session_events"
        + " WHERE session = " + id + " AND " + span(reader, session) + " GROUP BY type, via, host"
        + " ORDER BY count(*) DESC, type, host LIMIT " + MOST_TYPES);
        ResultSet row = query.executeQuery()) {
      while (row.next()) {
        types.add(new TypeCount(row.getString(1), row.getString(2), row.getString(3), row.getLong(4)));
      }
    }
    return types;
  }
}
