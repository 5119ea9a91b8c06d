package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.Sql;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Makes text fit PostgreSQL's limits. */
final class PostgresText {
  /** Maximum length of a name in bytes; PostgreSQL silently truncates longer ones. */
  static final int NAME_BYTES = 63;

  private static final int HASH_DIGITS = 8;

  private PostgresText() {}

  /**
   * Returns a name that PostgreSQL does not truncate: {@code name} and {@code suffix} if they fit, otherwise as much of
   * the beginning of the name as fits, {@code ~}, eight digits of a hash of the whole name, and the suffix.
   */
  static String fit(String name, String suffix) {
    String clean = Sql.clean(name);
    if (bytes(clean) + bytes(suffix) <= NAME_BYTES) {
      return clean + suffix;
    }
    int room = NAME_BYTES - bytes(suffix) - 1 - HASH_DIGITS;
    int end = 0;
    int used = 0;
    while (end < clean.length()) {
      int codePoint = clean.codePointAt(end);
      int length = bytes(Character.toString(codePoint));
      if (used + length > room) {
        break;
      }
      used += length;
      end += Character.charCount(codePoint);
    }
    return clean.substring(0, end) + "~" + hash(name) + suffix;
  }

  private static int bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }

  private static String hash(String text) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest).substring(0, HASH_DIGITS);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
