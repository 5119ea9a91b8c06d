package io.lifeline.jobs.archive.postgres;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address of the database: {@code postgresql://[user@]host[:port][,host2...]/database[?parameters]}. The parameters
 * are those of PostgreSQL's JDBC driver. Passwords are not allowed, because URLs are visible in process lists.
 *
 * @param user null for the user who runs this process
 * @param jdbc the JDBC URL, without the user
 */
public record PostgresUrl(String user, String jdbc) {
  public static final String ALLOWED =
      "postgresql://[user@]host[:port][,host:port]/database[?sslmode=verify-full&...], without a password";

  private static final Pattern URL =
      Pattern.compile("postgres(?:ql)?://(?:([^/@?:]+)@)?([^/@?]+)/([^/@?]+)(\\?[^@]*)?");
  private static final Pattern SECRET = Pattern.compile("[?&][^=&]*password[^=&]*=", Pattern.CASE_INSENSITIVE);

  /** Returns whether the text is such a URL rather than a directory. */
  public static boolean isMeantBy(String text) {
    return text.startsWith("postgresql:") || text.startsWith("postgres:");
  }

  /** Parses the text. An {@link IllegalArgumentException} does not repeat it, because it may contain a password. */
  public static PostgresUrl parse(String text) {
    Matcher url = URL.matcher(text);
    if (!url.matches() || url.group(4) != null && SECRET.matcher(url.group(4)).find()) {
      throw new IllegalArgumentException("expected " + ALLOWED + " (it belongs into a file)");
    }
    String user = url.group(1) == null ? null : URLDecoder.decode(url.group(1), StandardCharsets.UTF_8);
    String parameters = url.group(4) == null ? "" : url.group(4);
    return new PostgresUrl(user, "jdbc:postgresql://" + url.group(2) + "/" + url.group(3) + parameters);
  }

  /** Returns the URL without user and parameters, for logs. */
  @Override
  public String toString() {
    int parameters = jdbc.indexOf('?');
    return jdbc.substring("jdbc:".length(), parameters < 0 ? jdbc.length() : parameters);
  }
}
