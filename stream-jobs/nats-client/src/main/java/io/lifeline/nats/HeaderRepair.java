package io.lifeline.nats;

import io.nats.client.support.IncomingHeadersProcessor;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Makes the headers of a message readable for the client. Any publisher chooses these bytes and the server does not
 * check them, but the client's parser throws on most of what is not plain ASCII in the documented form.
 */
final class HeaderRepair {

  private static final byte[] NONE = "NATS/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
  private static final String VERSION = "NATS/1.0\r\n";
  private static final String LINE_END = "\r\n";

  private HeaderRepair() {}

  /**
   * Returns the headers unchanged if the client can read them. Otherwise lines without a valid name are removed, and
   * other characters of values than printable ASCII are replaced by question marks.
   *
   * @param isStored whether the message comes from a stream: then a status line, which the client would take for one
   *     of the server's, was written by its publisher, and is removed
   */
  static byte[] repaired(byte[] headers, boolean isStored) {
    if (isReadable(headers, isStored)) {
      return headers;
    }
    byte[] repaired = rewritten(headers);
    return isReadable(repaired, isStored) ? repaired : NONE.clone();
  }

  private static boolean isReadable(byte[] headers, boolean isStored) {
    try {
      return new IncomingHeadersProcessor(headers).getStatus() == null || !isStored;
    } catch (RuntimeException e) {
      return false;
    }
  }

  private static byte[] rewritten(byte[] headers) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(headers.length);
    out.writeBytes(VERSION.getBytes(StandardCharsets.US_ASCII));
    String[] lines = new String(headers, StandardCharsets.UTF_8).split(LINE_END);
    for (int number = 1; number < lines.length; number++) {
      int colon = lines[number].indexOf(':');
      String name = colon < 0 ? "" : lines[number].substring(0, colon);
      if (name.matches("[!-9;-~]+")) {
        String value = lines[number].substring(colon + 1).replaceAll("[^ -~]", "?").strip();
        out.writeBytes((name + ": " + value + LINE_END).getBytes(StandardCharsets.US_ASCII));
      }
    }
    out.writeBytes(LINE_END.getBytes(StandardCharsets.US_ASCII));
    return out.toByteArray();
  }
}
