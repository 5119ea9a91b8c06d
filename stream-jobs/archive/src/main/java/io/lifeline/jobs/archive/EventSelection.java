package io.lifeline.jobs.archive;

import io.lifeline.jobs.core.Glob;
import java.util.ArrayList;
import java.util.List;

/**
 * Selects events of an archive.
 *
 * @param types names, one of which must match; empty for all types
 * @param program name in which {@code *} matches any text; null for all programs
 * @param host as {@code program}
 * @param sinceNs time of the earliest event; null for no limit
 * @param untilNs time after the last event; null for no limit
 * @param where SQL condition on the columns of the view {@code events}; null for none
 * @param session only what belongs to this session; null for no such limit. Needs the views over sessions
 */
public record EventSelection(List<Glob> types, String program, String host, Long sinceNs, Long untilNs, String where,
    String session) {
  public static final EventSelection ALL = new EventSelection(List.of(), null, null, null, null, null);

  private static final String IDENTITY = "incarnation, route, sequence, event_index";
  private static final char ESCAPE = '!';

  /** Selects from events of all sessions, and of none. */
  public EventSelection(List<Glob> types, String program, String host, Long sinceNs, Long untilNs, String where) {
    this(types, program, host, sinceNs, untilNs, where, null);
  }

  /** Returns whether events of this type are selected. */
  public boolean selectsType(String name) {
    return types.isEmpty() || types.stream().anyMatch(glob -> glob.matches(name));
  }

  /**
   * Returns a WHERE clause with these conditions and those of program, host and {@link #where}, or nothing if there are
   * none. The user's condition ends with a line, since it may contain a comment.
   */
  public String clause(List<String> conditions) {
    return clause(conditions, session == null ? null : ofSession());
  }

  /** Returns the query for the identities of the session's events. */
  public String ofSession() {
    return "SELECT " + IDENTITY + " FROM session_events WHERE session = " + Sql.literal(session);
  }

  /** @param ofSession query with the result of {@link #ofSession}; null without a session */
  public String clause(List<String> conditions, String ofSession) {
    List<String> all = new ArrayList<>(conditions);
    if (program != null) {
      all.add(matches("program", program));
    }
    if (host != null) {
      all.add(matches("host", host));
    }
    if (ofSession != null) {
      all.add("(" + IDENTITY + ") IN (" + ofSession + ")");
    }
    if (where != null) {
      all.add("(" + where + "\n)");
    }
    return all.isEmpty() ? "" : " WHERE " + String.join(" AND ", all);
  }

  /** Returns the condition that the column's text matches, where {@code *} is any text. */
  public static String matches(String column, String glob) {
    return column + " LIKE " + pattern(glob);
  }

  /** Returns the pattern that matches the same names as {@link Glob}. */
  private static String pattern(String glob) {
    StringBuilder pattern = new StringBuilder();
    for (char c : glob.toCharArray()) {
      if (c == '%' || c == '_' || c == ESCAPE) {
        pattern.append(ESCAPE);
      }
      pattern.append(c == '*' ? '%' : c);
    }
    return Sql.literal(pattern.toString()) + " ESCAPE '" + ESCAPE + "'";
  }
}
