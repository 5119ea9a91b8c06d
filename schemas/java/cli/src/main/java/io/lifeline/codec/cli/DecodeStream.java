package io.lifeline.codec.cli;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.RejectedBatchException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Reads length-prefixed messages, and writes a line of JSON per message. */
final class DecodeStream {
  private static final int LENGTH_BYTES = 4;

  private final InputStream in;
  private final OutputStream out;
  private final BatchReader reader = new BatchReader();

  DecodeStream(InputStream in, OutputStream out) {
    this.in = in;
    this.out = out;
  }

  int run() throws IOException {
    for (byte[] message = next(); message != null; message = next()) {
      out.write(answer(message));
      out.write('\n');
      out.flush();
    }
    return CodecCli.OK;
  }

  private byte[] answer(byte[] message) throws IOException {
    try {
      return BatchToJson.toJson(reader.read(message, 0, message.length));
    } catch (RejectedBatchException e) {
      return BatchToJson.rejection(e);
    }
  }

  /** Returns the next message, or null at the end of the stream. */
  private byte[] next() throws IOException {
    byte[] prefix = in.readNBytes(LENGTH_BYTES);
    if (prefix.length == 0) {
      return null;
    }
    if (prefix.length < LENGTH_BYTES) {
      throw new EOFException("the stream ends within a length");
    }
    int length = ByteBuffer.wrap(prefix).order(ByteOrder.LITTLE_ENDIAN).getInt();
    if (length < 0) {
      throw new IOException("the stream announces a message of more than 2 GiB");
    }
    byte[] message = in.readNBytes(length);
    if (message.length < length) {
      throw new EOFException("the stream ends within a message");
    }
    return message;
  }
}
