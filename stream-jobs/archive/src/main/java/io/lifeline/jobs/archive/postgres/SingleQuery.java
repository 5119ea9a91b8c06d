package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.Sql;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.postgresql.core.NativeQuery;
import org.postgresql.core.Parser;

/**
 * Admits a single query. The driver divides text at semicolons, with this parser, and sends the parts one by one: what
 * follows a COMMIT would no longer be in the read-only transaction. The server refuses several in one part.
 */
final class SingleQuery {
  private static final Set<String> QUERIES = Set.of("select", "with", "values", "table", "show", "explain");

  private SingleQuery() {}

  static void require(String sql) throws SQLException {
    Sql.requireWhole(sql);
    List<NativeQuery> parts = Parser.parseJdbcSql(sql, true, true, true, false, true);
    if (parts.size() > 1) {
      throw new SQLException("one query is expected, not " + parts.size());
    }
    if (!QUERIES.contains(firstWord(parts.isEmpty() ? "" : parts.get(0).nativeSql))) {
      throw new SQLException("the archive is only read: a SELECT, WITH, VALUES, TABLE, SHOW or EXPLAIN is expected");
    }
  }

  /** Returns the first word behind comments and parentheses, in lower case. */
  private static String firstWord(String sql) {
    int at = 0;
    while (at < sql.length()) {
      char c = sql.charAt(at);
      char next = at + 1 < sql.length() ? sql.charAt(at + 1) : 0;
      if (c == '-' && next == '-') {
        at = Parser.parseLineComment(sql.toCharArray(), at) + 1;
      } else if (c == '/' && next == '*') {
        at = Parser.parseBlockComment(sql.toCharArray(), at) + 1;
      } else if (c == '(' || Character.isWhitespace(c)) {
        at++;
      } else {
        break;
      }
    }
    int end = at;
    while (end < sql.length() && Character.isLetter(sql.charAt(end))) {
      end++;
    }
    return sql.substring(Math.min(at, end), end).toLowerCase(Locale.ROOT);
  }
}
