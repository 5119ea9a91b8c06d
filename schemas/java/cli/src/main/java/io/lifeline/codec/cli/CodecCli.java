package io.lifeline.codec.cli;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.RejectedBatchException;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;

/** {@code decode} and {@code encode}: converts batches to their JSON meaning (FORMAT section 13) and back. */
public final class CodecCli {
  static final int OK = 0;
  static final int REFUSED = 1;
  static final int USAGE = 2;

  private static final String HELP =
      String.join(
          "\n",
          "Usage: lifeline-codec decode|encode [--stream]",
          "",
          "  decode   reads one batch from standard input and prints its meaning as JSON",
          "  encode   reads the JSON meaning from standard input and writes the batch",
          "",
          "  --stream many in one run: batches are framed by a u32 little-endian length, each JSON is a line;",
          "           what is refused becomes a line {\"rejected\":...} or, encoding, a frame of length 0",
          "  --help   prints this",
          "",
          "Exit status: 0 done, 1 the batch or the JSON was refused, 2 wrong usage.");

  private final InputStream in;
  private final OutputStream out;
  private final PrintStream err;

  CodecCli(InputStream in, OutputStream out, PrintStream err) {
    this.in = in;
    this.out = out;
    this.err = err;
  }

  public static void main(String[] arguments) {
    int status;
    try (OutputStream out = new BufferedOutputStream(System.out)) {
      status = new CodecCli(new BufferedInputStream(System.in), out, System.err).run(List.of(arguments));
    } catch (IOException e) {
      System.err.println("lifeline-codec: " + e.getMessage());
      status = REFUSED;
    }
    System.exit(status);
  }

  int run(List<String> arguments) throws IOException {
    if (arguments.contains("--help")) {
      out.write((HELP + "\n").getBytes(StandardCharsets.UTF_8));
      return OK;
    }
    boolean stream = arguments.size() == 2 && arguments.get(1).equals("--stream");
    if (arguments.isEmpty()
        || !Set.of("decode", "encode").contains(arguments.get(0))
        || arguments.size() > 1 && !stream) {
      err.println("lifeline-codec: expected decode or encode, then nothing or --stream (try --help)");
      return USAGE;
    }
    if (arguments.get(0).equals("decode")) {
      return stream ? new DecodeStream(in, out).run() : decode();
    }
    return stream ? new EncodeStream(in, out, err).run() : encode();
  }

  private int decode() throws IOException {
    byte[] message = in.readAllBytes();
    try {
      BatchReader reader = new BatchReader().read(message, 0, message.length);
      out.write(BatchToJson.toJson(reader));
      out.write('\n');
      return OK;
    } catch (RejectedBatchException e) {
      err.println("rejected: " + e);
      return REFUSED;
    }
  }

  private int encode() throws IOException {
    try {
      out.write(JsonToBatch.toBatch(in.readAllBytes()));
      return OK;
    } catch (IllegalArgumentException e) {
      err.println("refused: " + e.getMessage());
      return REFUSED;
    }
  }
}
