package io.lifeline.console.archive;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The answer to a question.
 *
 * @param status of HTTP; of an error the bytes are its text
 */
public record Answer(int status, String mediaType, byte[] bytes) {
  /** Several are in memory at once. */
  static final int MOST_BYTES = 16 << 20;

  static final int OK = 200;

  static Answer error(int status, String text) {
    return new Answer(status, "text/plain", String.valueOf(text).getBytes(StandardCharsets.UTF_8));
  }

  void write(DataOutputStream out) throws IOException {
    out.writeShort(status);
    out.writeUTF(mediaType);
    out.writeInt(bytes.length);
    out.write(bytes);
    out.flush();
  }

  static Answer read(DataInputStream in) throws IOException {
    int status = in.readShort();
    String mediaType = in.readUTF();
    int length = in.readInt();
    if (length < 0 || length > MOST_BYTES) {
      throw new IOException("an answer of " + length + " bytes");
    }
    return new Answer(status, mediaType, in.readNBytes(length));
  }
}
