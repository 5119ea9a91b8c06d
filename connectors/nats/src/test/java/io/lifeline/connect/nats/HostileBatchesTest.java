package io.lifeline.connect.nats;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.cases.Hostile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Headers;
import org.apache.kafka.connect.sink.SinkRecord;
import org.junit.jupiter.api.Test;

/** Legal batches that are made to harm who reads them, each behind an honest one. */
class HostileBatchesTest {

  private final MessageMapper mapper = new MessageMapper(
      new SinkConfig(Map.of("topics", "lifeline.batches", "nats.url", "nats://127.0.0.1:4222",
          "nats.subject", "lifeline.batches", "content", "batches")), "hostile");

  /** The names of host and program stand in headers, which on NATS hold less than on Kafka. */
  @Test
  void passWholeWhateverTheirHeadersSay() throws IOException {
    List<Path> corpus = corpus();
    assertThat(corpus).hasSizeGreaterThan(50);
    long honest = 0;
    for (Path file : corpus) {
      byte[] ours = Batches.batch(++honest);
      assertThat(mapper.map(record(ours, "host-a", "test")).body()).isEqualTo(ours);
      byte[] batch = Files.readAllBytes(file);
      JsonNode meaning = new ObjectMapper().readTree(Path.of(file.toString().replace(".llb", ".json")).toFile());
      OutgoingMessage message =
          mapper.map(record(batch, meaning.get("host").asText(), meaning.get("program").asText()));
      assertThat(message.body()).isEqualTo(batch);
      assertThat(message.headers().getFirst("Nats-Msg-Id")).isEqualTo(
          meaning.get("incarnation").asText() + "-" + meaning.get("route").asText() + "-"
              + meaning.get("sequence").asText() + "-"
              + HexFormat.of().formatHex(batch, batch.length - 4, batch.length));
      assertThat(new String(message.headers().getSerialized(), StandardCharsets.ISO_8859_1))
          .matches("NATS/1\\.0\r\n([A-Za-z-]+:[ -~]*\r\n){3}\r\n");
    }
  }

  /** The sink looks at the identity alone: readers behind it judge the bombs. */
  @Test
  void passWholeWithoutMeasureAndInBoundedMemory() throws Exception {
    List<Hostile> corpus = Hostile.made("connect");
    assertThat(corpus).isNotEmpty();
    assertThat(Hostile.peakMemory(() -> corpus.forEach(hostile -> {
      for (byte[] batch : hostile.batches()) {
        OutgoingMessage message = mapper.map(record(batch, "host-a", "test"));
        assertThat(message.body()).isEqualTo(batch);
        assertThat(message.headers().getFirst("Nats-Msg-Id")).isEqualTo(BatchIdentity.of(batch).messageId());
        byte[] ours = Batches.batch(1);
        assertThat(mapper.map(record(ours, "host-a", "test")).body()).isEqualTo(ours);
      }
    }))).isLessThan(Hostile.MAX_MEMORY);
  }

  private static SinkRecord record(byte[] batch, String host, String program) {
    Headers headers = new ConnectHeaders()
        .addBytes("lifeline-host", host.getBytes(StandardCharsets.UTF_8))
        .addBytes("lifeline-program", program.getBytes(StandardCharsets.UTF_8));
    return new SinkRecord("lifeline.batches", 0, null, null, null, batch, 1, null, null, headers);
  }

  private static List<Path> corpus() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("..", "..", "schemas", "vectors", "hostile"))) {
      return files.filter(file -> file.toString().endsWith(".llb")).sorted().toList();
    }
  }
}
