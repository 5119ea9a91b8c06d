package io.lifeline.jobs.archive.export;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Shortens texts that are kept in memory: ids and names of emitters may have kilobytes. */
final class ShortText {
  private static final int MAX_CHARS = 200;
  private static final int HASH_BYTES = 16;

  private ShortText() {}

  /** Returns the text, or of a long one its beginning and a hash: different texts stay different. */
  static String of(String text) {
    if (text.length() <= MAX_CHARS) {
      return text;
    }
    int end = MAX_CHARS - 2 * HASH_BYTES - 1;
    end -= Character.isHighSurrogate(text.charAt(end - 1)) ? 1 : 0;
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return text.substring(0, end) + "~" + HexFormat.of().formatHex(digest, 0, HASH_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
