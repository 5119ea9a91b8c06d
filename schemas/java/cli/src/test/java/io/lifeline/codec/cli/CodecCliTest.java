package io.lifeline.codec.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class CodecCliTest {
  private static final EventType TYPE =
      EventType.named("a").field("x", FieldType.F32).field("y", FieldType.U64).build();

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int run(byte[] input, String... arguments) throws IOException {
    PrintStream errors = new PrintStream(err, true, StandardCharsets.UTF_8);
    return new CodecCli(new ByteArrayInputStream(input), out, errors).run(List.of(arguments));
  }

  private static byte[] framed(byte[]... messages) {
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    for (byte[] message : messages) {
      byte[] prefix = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(message.length).array();
      stream.writeBytes(prefix);
      stream.writeBytes(message);
    }
    return stream.toByteArray();
  }

  @Test
  void whatIsDecodedIsEncodedToTheSameBytes() throws IOException {
    byte[] batch = new BatchWriter().event(TYPE, 1, -0.0f, -1L).event(TYPE, 2, Float.NaN, 3L).toByteArray();
    assertThat(run(batch, "decode")).isEqualTo(CodecCli.OK);
    assertThat(out.toString(StandardCharsets.UTF_8))
        .contains("\"fields\":[\"-0\",\"18446744073709551615\"]", "\"nan:7fc00000\"");

    byte[] json = out.toByteArray();
    out.reset();
    assertThat(run(json, "encode")).isEqualTo(CodecCli.OK);
    assertThat(out.toByteArray()).isEqualTo(batch);
  }

  @Test
  void aRejectedBatchIsOneLineOnStderr() throws IOException {
    assertThat(run(new byte[5], "decode")).isEqualTo(CodecCli.REFUSED);
    assertThat(err).hasToString("rejected: truncated at 5: the message is shorter than a batch without events\n");
    assertThat(out.size()).isZero();
  }

  @Test
  void jsonThatIsNoBatchIsRefusedByTheNameOfWhatIsMissing() throws IOException {
    assertThat(run("{\"version\":1}".getBytes(StandardCharsets.UTF_8), "encode")).isEqualTo(CodecCli.REFUSED);
    assertThat(err).hasToString("refused: \"byte_order\" is missing\n");
  }

  @Test
  void aStreamAnswersEveryMessageInItsOrder() throws IOException {
    byte[] batch = new BatchWriter().host("h").toByteArray();
    assertThat(run(framed(batch, new byte[0], batch), "decode", "--stream")).isEqualTo(CodecCli.OK);
    List<String> lines = out.toString(StandardCharsets.UTF_8).lines().toList();
    assertThat(lines).hasSize(3);
    assertThat(lines.get(1)).startsWith("{\"rejected\":\"truncated\",\"offset\":0,");
    assertThat(lines.get(2)).isEqualTo(lines.get(0)).contains("\"host\":\"h\"");

    String json = lines.get(0);
    out.reset();
    run((json + "\nnonsense\n" + json + "\n").getBytes(StandardCharsets.UTF_8), "encode", "--stream");
    assertThat(out.toByteArray()).isEqualTo(framed(batch, new byte[0], batch));
  }

  @Test
  void wrongUsageSaysWhatIsExpected() throws IOException {
    assertThat(run(new byte[0])).isEqualTo(CodecCli.USAGE);
    assertThat(run(new byte[0], "decode", "--fast")).isEqualTo(CodecCli.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("expected decode or encode");
    assertThat(run(new byte[0], "--help")).isEqualTo(CodecCli.OK);
    assertThat(out.toString(StandardCharsets.UTF_8)).startsWith("Usage: lifeline-codec decode|encode");
  }
}
