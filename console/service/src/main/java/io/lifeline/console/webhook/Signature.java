package io.lifeline.console.webhook;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The header {@code Lifeline-Signature: t=SECONDS,v1=HEX}, where HEX is HMAC-SHA256, with the webhook's secret as the
 * key, of the seconds since 1970 in decimal, a dot, and the body. A target that refuses old seconds cannot be sent a
 * recorded delivery again.
 */
final class Signature {
  static final String HEADER = "Lifeline-Signature";
  private static final String ALGORITHM = "HmacSHA256";
  private static final int SECRET_BYTES = 24;
  private static final SecureRandom RANDOM = new SecureRandom();

  private Signature() {}

  static String of(String secret, long seconds, byte[] body) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), ALGORITHM));
      mac.update((seconds + ".").getBytes(StandardCharsets.UTF_8));
      return "t=" + seconds + ",v1=" + HexFormat.of().formatHex(mac.doFinal(body));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + ALGORITHM, e);
    }
  }

  static String newSecret() {
    byte[] bytes = new byte[SECRET_BYTES];
    RANDOM.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }
}
