package io.lifeline.nats;

import io.nats.client.impl.SocketDataPortWithWriteTimeout;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.StringTokenizer;
import java.util.regex.Pattern;

/**
 * The client's socket, with headers that it can read: its reader thread ends for good at an exception, and nothing
 * reports that. Follows the protocol only as far as needed to find the headers.
 *
 * <p>Public because the client creates it by name. Used by one thread.
 */
public class GuardedDataPort extends SocketDataPortWithWriteTimeout {

  private static final int BUFFER_BYTES = 64 << 10;

  /** Longest line of the protocol; the longest one lists a cluster's servers. */
  private static final int MAX_LINE_BYTES = 1 << 20;

  /** Prefix of the reply subjects of messages from a stream. */
  private static final String FROM_STREAM = "$JS.ACK.";

  private static final Pattern LENGTH = Pattern.compile("[0-9]{1,9}");

  private static final byte[] NOTHING = {};

  private final byte[] raw = new byte[BUFFER_BYTES];
  private int position;
  private int limit;

  /** The beginning of a line. */
  private byte[] line = new byte[1024];

  private int lineBytes;

  /** The message's control line while its headers are gathered; else null. */
  private String[] control;

  private byte[] headers = NOTHING;
  private int headerBytes;

  /** What the client gets before the rest of the message. */
  private byte[] ready = NOTHING;

  private int readyPosition;

  /** Bytes left of the message, which are passed on unchanged. */
  private long payload;

  @Override
  public int read(byte[] dst, int off, int len) throws IOException {
    int copied = 0;
    while (copied < len) {
      if (readyPosition < ready.length) {
        int count = Math.min(len - copied, ready.length - readyPosition);
        System.arraycopy(ready, readyPosition, dst, off + copied, count);
        readyPosition += count;
        copied += count;
        continue;
      }
      if (position == limit) {
        if (copied > 0) {
          return copied;
        }
        int count = super.read(raw, 0, raw.length);
        if (count <= 0) {
          return count;
        }
        position = 0;
        limit = count;
      }
      if (payload > 0) {
        int count = (int) Math.min(payload, Math.min(len - copied, limit - position));
        System.arraycopy(raw, position, dst, off + copied, count);
        position += count;
        payload -= count;
        copied += count;
      } else if (control != null) {
        gatherHeaders();
      } else {
        gatherLine();
      }
    }
    return copied;
  }

  private void gatherLine() throws IOException {
    int end = position;
    while (end < limit && raw[end] != '\n') {
      end++;
    }
    boolean isWhole = end < limit;
    int count = end - position + (isWhole ? 1 : 0);
    if (lineBytes + count > MAX_LINE_BYTES) {
      throw new IOException("the server sent a line of more than " + MAX_LINE_BYTES + " bytes");
    }
    if (lineBytes + count > line.length) {
      line = Arrays.copyOf(line, 2 * (lineBytes + count));
    }
    System.arraycopy(raw, position, line, lineBytes, count);
    lineBytes += count;
    position += count;
    if (isWhole) {
      begin(Arrays.copyOf(line, lineBytes));
      lineBytes = 0;
    }
  }

  private void begin(byte[] whole) throws IOException {
    boolean hasHeaders = isOperation(whole, "HMSG");
    if (!hasHeaders && !isOperation(whole, "MSG")) {
      pass(whole, 0);
      return;
    }
    // A byte of a subject is a character here, and the same byte again in the line with headers.
    StringTokenizer tokens = new StringTokenizer(new String(whole, StandardCharsets.ISO_8859_1).strip(), " \t");
    String[] words = new String[tokens.countTokens()];
    Arrays.setAll(words, i -> tokens.nextToken());
    if (words.length < (hasHeaders ? 5 : 4)) {
      throw new IOException("the server sent an incomplete line before a message");
    }
    if (hasHeaders) {
      control = words;
      headers = new byte[length(words[words.length - 2])];
      headerBytes = 0;
      if (headers.length > length(words[words.length - 1])) {
        throw new IOException("the server sent headers that are longer than their message");
      }
      gatherHeaders();
    } else {
      pass(whole, length(words[words.length - 1]));
    }
  }

  private void gatherHeaders() throws IOException {
    int count = Math.min(headers.length - headerBytes, limit - position);
    System.arraycopy(raw, position, headers, headerBytes, count);
    headerBytes += count;
    position += count;
    if (headerBytes < headers.length) {
      return;
    }
    int words = control.length;
    int data = length(control[words - 1]) - headers.length;
    boolean isStored = words == 6 && control[3].startsWith(FROM_STREAM);
    byte[] repaired = HeaderRepair.repaired(headers, isStored);
    control[words - 2] = Integer.toString(repaired.length);
    control[words - 1] = Integer.toString(repaired.length + data);
    byte[] first = (String.join(" ", control) + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
    byte[] both = Arrays.copyOf(first, first.length + repaired.length);
    System.arraycopy(repaired, 0, both, first.length, repaired.length);
    control = null;
    headers = NOTHING;
    pass(both, data);
  }

  /** The line's end follows a message. */
  private void pass(byte[] bytes, int data) {
    ready = bytes;
    readyPosition = 0;
    payload = isOperation(bytes, "MSG") || isOperation(bytes, "HMSG") ? data + 2L : 0;
  }

  private static boolean isOperation(byte[] line, String operation) {
    int length = operation.length();
    if (line.length <= length || line[length] != ' ' && line[length] != '\t') {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if ((line[i] & ~0x20) != operation.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  private static int length(String digits) throws IOException {
    if (!LENGTH.matcher(digits).matches()) {
      throw new IOException("the server sent a message without a valid length");
    }
    return Integer.parseInt(digits);
  }

  /** What was read before the handshake was not authenticated. */
  @Override
  public void upgradeToSecure() throws IOException {
    position = limit;
    super.upgradeToSecure();
  }
}
