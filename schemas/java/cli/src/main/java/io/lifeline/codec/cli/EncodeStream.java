package io.lifeline.codec.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Reads a line of JSON per batch, and writes length-prefixed batches; an invalid line becomes a length of 0. */
final class EncodeStream {
  private final BufferedReader in;
  private final OutputStream out;
  private final PrintStream err;

  EncodeStream(InputStream in, OutputStream out, PrintStream err) {
    this.in = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    this.out = out;
    this.err = err;
  }

  int run() throws IOException {
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      byte[] batch = encode(line);
      out.write(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(batch.length).array());
      out.write(batch);
      out.flush();
    }
    return CodecCli.OK;
  }

  private byte[] encode(String line) {
    try {
      return JsonToBatch.toBatch(line.getBytes(StandardCharsets.UTF_8));
    } catch (IllegalArgumentException e) {
      err.println("refused: " + e.getMessage());
      return new byte[0];
    }
  }
}
