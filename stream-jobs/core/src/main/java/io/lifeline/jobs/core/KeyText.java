package io.lifeline.jobs.core;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Percent-encodes text for message ids and keys, except for ASCII letters, digits and {@code ._-/*+}. */
public final class KeyText {

  private static final String PLAIN = "._-/*+";

  private KeyText() {}

  public static String encode(String text) {
    StringBuilder encoded = new StringBuilder(text.length());
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      boolean plain = b > 0 && (Character.isLetterOrDigit(b) || PLAIN.indexOf(b) >= 0);
      if (plain) {
        encoded.append((char) b);
      } else {
        encoded.append(String.format(Locale.ROOT, "%%%02X", b & 0xFF));
      }
    }
    return encoded.toString();
  }

  /** Reads back what {@link #encode} wrote. */
  public static String decode(String encoded) {
    byte[] bytes = new byte[encoded.length()];
    int length = 0;
    for (int i = 0; i < encoded.length(); i++) {
      if (encoded.charAt(i) == '%') {
        bytes[length++] = (byte) Integer.parseInt(encoded, i + 1, i + 3, 16);
        i += 2;
      } else {
        bytes[length++] = (byte) encoded.charAt(i);
      }
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }
}
