package io.lifeline.console.access;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;

/**
 * Tokens and session ids: 256 random bits, of which only the hash is kept. A slow hash with salt protects passwords,
 * because people choose guessable ones. 256 random bits cannot be guessed from a SHA-256 hash, and a fast hash does not
 * let strangers keep the processor busy.
 */
final class Secret {
  /** Lets scanners for secrets find a token that was published by mistake. */
  static final String PREFIX = "llc_";
  private static final int BYTES = 32;
  private static final SecureRandom RANDOM = new SecureRandom();

  private Secret() {}

  static String create() {
    byte[] bytes = new byte[BYTES];
    RANDOM.nextBytes(bytes);
    return PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  static String hash(String secret) {
    try {
      return HexFormat.of().formatHex(
          MessageDigest.getInstance("SHA-256").digest(secret.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java installation has SHA-256", e);
    }
  }

  /** Compares in a time that does not depend on where the hashes differ. */
  static boolean same(String hash, String other) {
    return MessageDigest.isEqual(hash.getBytes(StandardCharsets.US_ASCII), other.getBytes(StandardCharsets.US_ASCII));
  }
}
