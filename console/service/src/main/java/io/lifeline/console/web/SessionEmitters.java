package io.lifeline.console.web;

import com.fasterxml.jackson.core.type.TypeReference;
import io.lifeline.console.archive.Question;
import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.Sql;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Finds the incarnations of programs that took part in a session. What was found is kept for a moment: a view of the
 * page asks for the same session several times.
 */
final class SessionEmitters {
  private static final long FRESH_NS = TimeUnit.SECONDS.toNanos(5);
  private static final int MOST_KEPT = 16;

  private record Found(Set<String> incarnations, long ns) {}

  static final Map<String, Question> QUESTIONS =
      Map.of("session/emitters", (reader, asked) -> emitters(reader, asked.path("session").asText()));
  private static final TypeReference<Set<String>> TEXTS = new TypeReference<>() {};

  private final ArchiveQuestions archive;
  private final Map<String, Found> kept = new LinkedHashMap<>(MOST_KEPT, 0.75f, true) {
    private static final long serialVersionUID = 1;

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Found> eldest) {
      return size() > MOST_KEPT;
    }
  };

  SessionEmitters(ArchiveQuestions archive) {
    this.archive = archive;
  }

  /** Returns the incarnations, those of sessions within it too; none for an unknown session. */
  Set<String> of(Call call, String session) {
    synchronized (kept) {
      Found found = kept.get(session);
      if (found != null && System.nanoTime() - found.ns < FRESH_NS) {
        return found.incarnations;
      }
    }
    Set<String> incarnations = archive.value(call, "session/emitters", Map.of("session", session), TEXTS);
    synchronized (kept) {
      kept.put(session, new Found(incarnations, System.nanoTime()));
    }
    return incarnations;
  }

  private static Set<String> emitters(ArchiveReader reader, String session) throws SQLException {
    Set<String> found = new HashSet<>();
    try (PreparedStatement query = reader.prepare("SELECT DISTINCT b.incarnation FROM batches b"
        + " JOIN session_members m ON m.member = b.context->>'session' WHERE m.session = "
        + Sql.literal(session));
        ResultSet rows = query.executeQuery()) {
      while (rows.next()) {
        found.add(rows.getString(1));
      }
    }
    return found;
  }
}
