package io.lifeline.jobs.archive.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lifeline.codec.BatchReader;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.EventSelection;
import io.lifeline.jobs.archive.SessionScene;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Records are as pScheduler's schemas of throughput and rtt have them, and become the same transfers again. */
class PerfsonarTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final long SECOND = 1_000_000_000L;
  private static final EventType START = EventType.named("transfer.start").field("id", FieldType.U64)
      .field("source", FieldType.STRING).field("destination", FieldType.STRING).field("nbytes", FieldType.U64, "B")
      .build();
  private static final EventType END = EventType.named("transfer.end").field("id", FieldType.U64)
      .field("nbytes", FieldType.U64, "B").field("ok", FieldType.BOOL).build();
  private static final EventType TCP = EventType.named("tcp.info").field("id", FieldType.U64)
      .field("session", FieldType.BYTES).field("local", FieldType.STRING).field("remote", FieldType.STRING)
      .field("congestion", FieldType.STRING).field("window", FieldType.U32).field("segment", FieldType.U32, "B")
      .field("rtt", FieldType.U32, "us").field("retransmits", FieldType.U32).field("acked", FieldType.U64, "B")
      .field("received", FieldType.U64, "B").build();

  @TempDir Path directory;
  private Exports exports;

  @BeforeEach
  void begin() {
    exports = new Exports(directory);
  }

  private List<JsonNode> export(EventSelection selection) throws Exception {
    exports.write(ExportFormat.PERFSONAR, "records.json", selection);
    List<JsonNode> records = new ArrayList<>();
    for (String line : Files.readAllLines(exports.file("records.json"))) {
      records.add(MAPPER.readTree(line));
    }
    return records;
  }

  private static byte[] transfers() {
    return Archives.batch(new Incarnation(1, 1), 1).host("a.example").thread(7).context("session", SessionScene.OUTER)
        .event(START, 0, 1, "/data/x", "b.example:/y", 1_000_000)
        .event(START, SECOND, 2, "nats://[fd00::1]:4222/z", "no host name!", -1L)
        .event(END, 2 * SECOND, 1, 1_000_000, true).event(END, 3 * SECOND, 2, -1L, false)
        .event(START, 4 * SECOND, 3, "", "", 0).toByteArray();
  }

  private static byte[] connection(int samples) {
    return connection(2, samples);
  }

  private static byte[] connection(int emitter, int samples) {
    var batch = Archives.batch(new Incarnation(1, emitter), 1).host("a.example").thread(8);
    for (int i = 0; i < samples; i++) {
      batch.event(TCP, i * SECOND, 5, new byte[0], "10.0.0.1:1000", "[fd00::2]:443", "cubic", 10, 1448,
          100 + i % 3, i / 2, 1_000_000L * i, 10L);
    }
    return batch.toByteArray();
  }

  @Test
  void transfersAreThroughputTests() throws Exception {
    exports.archive(transfers());
    List<JsonNode> records = export(EventSelection.ALL);
    assertThat(records).hasSize(2);
    JsonNode first = records.get(0);
    assertThat(first.path("schedule").toString())
        .isEqualTo("{\"start\":\"2026-09-21T14:13:20.000000000Z\",\"duration\":\"PT2S\"}");
    assertThat(first.path("test").toString()).isEqualTo("{\"type\":\"throughput\",\"spec\":{\"schema\":1,"
        + "\"source\":\"a.example\",\"dest\":\"b.example\",\"duration\":\"PT2S\"}}");
    assertThat(first.path("participants").toString()).isEqualTo("[\"a.example\",\"b.example\"]");
    assertThat(first.path("result").path("summary").path("summary").path("throughput-bits").asDouble())
        .isEqualTo(4_000_000);
    JsonNode second = records.get(1);
    assertThat(second.path("test").path("spec").path("source").asText()).isEqualTo("fd00::1");
    assertThat(second.path("test").path("spec").path("dest").asText()).isEqualTo("a.example");
    assertThat(second.path("result").path("succeeded").asBoolean(true)).isFalse();
    records.forEach(PerfsonarSchema::check);
  }

  @Test
  void connectionsAreThroughputAndRttTests() throws Exception {
    exports.archive(connection(11));
    List<JsonNode> records = export(EventSelection.ALL);
    assertThat(records.stream().map(record -> record.path("test").path("type").asText()))
        .containsExactly("throughput", "rtt");
    records.forEach(PerfsonarSchema::check);
    JsonNode throughput = records.get(0);
    assertThat(throughput.path("test").path("spec").path("dest").asText()).isEqualTo("fd00::2");
    assertThat(throughput.path("result").path("intervals")).hasSize(10).allSatisfy(interval ->
        assertThat(interval.path("summary").path("throughput-bits").asDouble()).isEqualTo(8_000_000));
    assertThat(throughput.path("result").path("summary").path("summary").path("retransmits").asLong()).isEqualTo(5);
    JsonNode rtt = records.get(1).path("result");
    assertThat(rtt.path("roundtrips")).hasSize(11);
    assertThat(rtt.path("min").asText() + rtt.path("max").asText()).isEqualTo("PT0.0001SPT0.000102S");
  }

  @Test
  void manySamplesOfAConnectionAreThinnedWithoutLosingBytes() throws Exception {
    exports.archive(connection(5_000));
    JsonNode throughput = export(EventSelection.ALL).get(0);
    JsonNode intervals = throughput.path("result").path("intervals");
    assertThat(intervals.size()).isBetween(PerfsonarConnection.MOST_SAMPLES / 2, PerfsonarConnection.MOST_SAMPLES + 1);
    double bits = 0;
    for (JsonNode interval : intervals) {
      JsonNode part = interval.path("summary");
      bits += part.path("throughput-bits").asDouble() * (part.path("end").asDouble() - part.path("start").asDouble());
    }
    assertThat(bits).isBetween(8e6 * 4_999 - 1, 8e6 * 4_999 + 1);
    assertThat(throughput.path("result").path("summary").path("summary").path("throughput-bits").asDouble())
        .isBetween(8e6 - 1, 8e6 + 1);
  }

  @Test
  void manyConnectionsShareTheMemory() throws Exception {
    int connections = 750;
    byte[][] batches = new byte[connections][];
    for (int i = 0; i < connections; i++) {
      batches[i] = connection(i + 2, 200);
    }
    exports.archive(batches);
    List<JsonNode> records = export(EventSelection.ALL);
    assertThat(records).hasSize(2 * connections);
    assertThat(records.stream().mapToInt(record -> record.path("result").path("intervals").size()).sum())
        .isBetween(connections, (128 << 10) + connections);
  }

  @Test
  void anExportOfASessionHasOnlyWhatBelongsToIt() throws Exception {
    exports.archive(transfers(), connection(3));
    EventSelection session =
        new EventSelection(List.of(), null, null, null, null, null, SessionScene.OUTER);
    assertThat(export(session)).hasSize(2).allSatisfy(record ->
        assertThat(record.path("reference").path("lifeline").path("session").asText()).isEqualTo(SessionScene.OUTER));
    assertThat(export(new EventSelection(List.of(), null, null, null, null, null, "' OR '1' = '1"))).isEmpty();
  }

  @Test
  void aTransferOfTwoSessionsIsARecordOfEach() throws Exception {
    exports.archive(Archives.batch(new Incarnation(1, 1), 1).context("session", SessionScene.INNER)
        .context("parent", SessionScene.OUTER).event(START, 0, 1, "a:/x", "b:/y", 1_000_000)
        .event(END, 2 * SECOND, 1, 1_000_000, true).toByteArray(),
        Archives.batch(new Incarnation(1, 2), 1).context("session", SessionScene.OUTER)
            .event(START, 0, 2, "", "", 0).toByteArray());
    List<String> ids = new ArrayList<>();
    for (String session : List.of(SessionScene.INNER, SessionScene.OUTER, SessionScene.OUTER)) {
      List<JsonNode> records = export(new EventSelection(List.of(), null, null, null, null, null, session));
      assertThat(records).hasSize(1);
      ids.add(records.get(0).path("id").asText());
    }
    assertThat(ids.get(1)).isNotEqualTo(ids.get(0)).isEqualTo(ids.get(2));
  }

  private static List<String> events(byte[] bytes) throws Exception {
    List<String> events = new ArrayList<>();
    BatchReader batch = new BatchReader().read(bytes, 0, bytes.length);
    while (batch.next()) {
      StringBuilder event = new StringBuilder(batch.type().name()).append(' ').append(batch.timeNs());
      for (int i = 0; i < batch.type().fields().size(); i++) {
        event.append(' ').append(switch (batch.type().fields().get(i).type()) {
          case STRING -> batch.getString(i);
          case BOOL -> batch.getBoolean(i);
          case F64 -> batch.getDouble(i);
          default -> batch.getLong(i);
        });
      }
      events.add(event.toString());
    }
    return events;
  }

  @Test
  void exportedTransfersBecomeTheSameEventsAgain() throws Exception {
    exports.archive(transfers());
    EventSelection session =
        new EventSelection(List.of(), null, null, null, null, null, SessionScene.OUTER);
    List<String> imported = new ArrayList<>();
    for (JsonNode record : export(session)) {
      byte[] bytes = PerfsonarReader.batch(record);
      assertThat(PerfsonarReader.batch(record)).isEqualTo(bytes); // a repeat is a duplicate
      BatchReader batch = new BatchReader().read(bytes, 0, bytes.length);
      assertThat(batch.context()).containsEntry("session", SessionScene.OUTER);
      assertThat(batch.host() + batch.program() + batch.pid()).isEqualTo("a.exampleprogram42");
      imported.addAll(events(bytes));
    }
    imported.sort(null);
    List<String> original = new ArrayList<>(events(transfers()));
    original.removeIf(event -> event.contains("transfer.start") && event.contains(" 3  "));
    original.sort(null);
    assertThat(imported).isEqualTo(original);
  }

  /** As iperf3's results are in pScheduler, with the archiver's envelope around them. */
  private static final String FOREIGN = """
      {"data": {}, "result": {"id": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
       "schedule": {"start": "2026-11-21T06:19:00.5+01:00", "duration": "PT14S"},
       "test": {"type": "throughput", "spec": {"schema": 1, "source": "a", "dest": "b", "duration": "PT2S"}},
       "tool": {"name": "iperf3", "version": "1.0"}, "run": {}, "task": {}, "participants": ["a", "b"],
       "result": {"succeeded": true, "diags": "", "intervals": [
         {"streams": [{"stream-id": "5", "start": 0, "end": 1, "throughput-bits": 8e9, "retransmits": 3, "rtt": 25000}],
          "summary": {"start": 0, "end": 1, "throughput-bits": 8e9}},
         {"streams": [], "summary": {"start": 1, "end": 2, "throughput-bits": 4e9}}],
        "summary": {"streams": [], "summary": {"start": 0, "end": 2, "throughput-bits": 6e9}}},
       "reference": null}}
      """;

  @Test
  void recordsOfOtherToolsBecomeEvents() throws Exception {
    byte[] bytes = PerfsonarReader.batch(MAPPER.readTree(FOREIGN));
    assertThat(events(bytes)).containsExactly(
        "transfer.start 1795238340500000000 1 a b 0",
        "perfsonar.throughput 1795238341500000000 1 5 1000000000 8.0E9 3 25000.0",
        "perfsonar.throughput 1795238342500000000 1  1000000000 4.0E9 -1 -1.0",
        "transfer.end 1795238354500000000 1 1500000000 true");
    BatchReader batch = new BatchReader().read(bytes, 0, bytes.length);
    assertThat(batch.context()).containsEntry("session", "f81d4fae7dec11d0a76500a0c91e6bf6");
    assertThat(batch.incarnation().toString()).isEqualTo("f81d4fae7dec11d0a76500a0c91e6bf6");
    String rtt = """
        {"id": "x", "schedule": {"start": "2026-11-21T05:19:00Z", "duration": "P1W"},
         "test": {"type": "rtt", "spec": {"dest": "b"}},
         "result": {"roundtrips": [{"seq": 1, "rtt": "PT0.025S"}, {"seq": 2}]}}
        """;
    assertThat(events(PerfsonarReader.batch(MAPPER.readTree(rtt)))).containsExactly(
        "perfsonar.rtt 1795238340000000000 1 b 25000000 false", "perfsonar.rtt 1795843140000000000 2 b 0 true");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
    "{}                                        | it has no test and result",
    "[]                                        | it has no test and result",
    "{\"test\":{\"type\":\"dns\"},\"result\":{}} | its test is dns",
    "{\"test\":{\"type\":\"rtt\"},\"result\":{}} | schedule.start is no time with a zone",
    "{\"test\":{\"type\":\"rtt\"},\"result\":{},\"schedule\":{\"start\":\"+999999999-01-01T00:00:00Z\"}} | no time",
    "{\"test\":{\"type\":\"rtt\"},\"result\":{},\"schedule\":{\"start\":\"2026-11-21T05:19:00Z\"}} | no ISO 8601"
  })
  void whatIsNoRecordIsRefused(String json, String message) throws Exception {
    JsonNode record = MAPPER.readTree(json);
    assertThatThrownBy(() -> PerfsonarReader.batch(record))
        .isInstanceOf(PerfsonarReader.InvalidRecordException.class).hasMessageContaining(message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"\\u0000\\ud800\"", "1e999", "-1", "null", "[]", "{\"a\":[]}", "\"99999999999999999999\"",
    "true"})
  void hostileValuesAreARefusedRecordOrALegalBatch(String value) throws Exception {
    JsonNode hostile = MAPPER.readTree(value);
    List<String> places = List.of("/result/id", "/result/schedule/start", "/result/schedule/duration",
        "/result/test/type", "/result/test/spec/source", "/result/test/spec/dest", "/result/tool/name",
        "/result/participants/0", "/result/result/succeeded", "/result/result/intervals",
        "/result/result/intervals/0/streams", "/result/result/intervals/0/streams/0/stream-id",
        "/result/result/intervals/0/streams/0/end", "/result/result/intervals/0/streams/0/throughput-bits",
        "/result/result/intervals/0/streams/0/retransmits", "/result/result/summary/summary/throughput-bits");
    for (String place : places) {
      JsonNode record = MAPPER.readTree(FOREIGN);
      int slash = place.lastIndexOf('/');
      JsonNode parent = record.at(place.substring(0, slash));
      if (parent instanceof ObjectNode object) {
        object.set(place.substring(slash + 1), hostile);
      }
      try {
        byte[] batch = PerfsonarReader.batch(record);
        events(batch);
      } catch (PerfsonarReader.InvalidRecordException e) {
        assertThat(e.getMessage().getBytes(StandardCharsets.UTF_8).length).isLessThan(2_000);
      }
    }
  }

  @Test
  void hostileEventsAreExportedAsLegalRecords() throws Exception {
    exports.archive(Exports.hostile(), 10_000);
    export(EventSelection.ALL).forEach(PerfsonarSchema::check);
  }
}
