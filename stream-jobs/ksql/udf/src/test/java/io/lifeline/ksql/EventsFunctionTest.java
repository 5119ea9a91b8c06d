package io.lifeline.ksql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.cases.Hostile;
import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Compression;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.connect.data.Struct;
import org.junit.jupiter.api.Test;

class EventsFunctionTest {

  private final EventsFunction function = new EventsFunction();

  @Test
  void makesARowOfEachEvent() {
    List<Struct> rows = function.events(Samples.mixed());
    assertThat(rows).hasSize(2);
    Struct first = rows.get(0);
    assertThat(first.getString("TS")).isEqualTo("2023-11-14T22:13:20.000000005Z");
    assertThat(first.getInt64("TS_NS")).isEqualTo(Samples.START_NS + 5);
    assertThat(first.getString("TYPE")).isEqualTo("mixed");
    assertThat(first.getString("LEVEL")).isEqualTo("info");
    assertThat(first.getString("HOST")).isEqualTo("host-1");
    assertThat(first.getString("PROGRAM")).isEqualTo("copy");
  }

  @Test
  void writesFieldsAndConstantsAsTextThatACastReadsBack() {
    assertThat(function.events(Samples.mixed()).get(0).<String, String>getMap("FIELDS"))
        .containsExactly(
            entry("unit", "bay 4"),
            entry("id", "18446744073709551615"),
            entry("i32", "-7"),
            entry("f32", "0.1"),
            entry("f64", "2.5"),
            entry("name", "a\"b"),
            entry("ok", "true"),
            entry("raw", "00ab"));
  }

  @Test
  void hasTheFieldCalledIdAsAColumnOfItsOwn() {
    List<Struct> rows = function.events(Samples.mixed());
    assertThat(rows.get(0).getString("ID")).isEqualTo("18446744073709551615");
    assertThat(rows.get(1).getString("ID")).isNull();
    assertThat(rows.get(1).<String, String>getMap("FIELDS")).containsExactly(entry("load", "NaN"));
  }

  @Test
  void readsOnlyWhatLiesBetweenPositionAndLimitAndLeavesThemAlone() {
    ByteBuffer batch = Samples.mixed();
    ByteBuffer within = ByteBuffer.allocate(batch.remaining() + 20).position(7).put(batch).flip().position(7);
    assertThat(function.events(within)).hasSize(2);
    assertThat(within.position()).isEqualTo(7);
    assertThat(function.events(within.asReadOnlyBuffer())).hasSize(2);
  }

  @Test
  void makesNoRowsOfNothing() {
    assertThat(function.events(null)).isEmpty();
  }

  @Test
  void makesARowOfEachEventOfHostileBatches() throws Exception {
    for (Path file : Samples.hostile()) {
      ByteBuffer batch = ByteBuffer.wrap(Files.readAllBytes(file));
      JsonNode events = new ObjectMapper().readTree(Path.of(file.toString().replace(".llb", ".json")).toFile());
      List<Struct> rows = function.events(batch);
      assertThat(rows).as("%s", file).hasSameSizeAs(events.path("events"));
      for (Struct row : rows) {
        row.validate();
        assertThat(row.getString("HOST")).as("%s", file).isEqualTo(events.path("host").asText());
        assertThat(Nanoseconds.iso(row.getInt64("TS_NS"))).isEqualTo(row.getString("TS"));
      }
      assertThat(new BatchFunction().header(batch).getInt32("EVENTS")).as("%s", file).isEqualTo(rows.size());
    }
  }

  /** Decompression bombs, thousands of types, unbounded rows. */
  @Test
  void takesOrRefusesHostileBatchesWithoutMeasureInBoundedMemory() throws Exception {
    List<Hostile> corpus = Hostile.made("ksqldb");
    assertThat(Hostile.peakMemory(() -> corpus.forEach(this::judge))).isLessThan(Hostile.MAX_MEMORY);
  }

  private void judge(Hostile hostile) {
    Map<String, Integer> outcomes = new TreeMap<>();
    for (byte[] bytes : hostile.batches()) {
      ByteBuffer batch = ByteBuffer.wrap(bytes);
      Struct header = new BatchFunction().header(batch);
      try {
        assertThat(function.events(batch)).hasSize(header.getInt32("EVENTS"));
        outcomes.merge("accepted", 1, Integer::sum);
      } catch (IllegalArgumentException e) {
        String code = e.getMessage().split("[ :]")[0];
        outcomes.merge(code, 1, Integer::sum);
        assertThat(header.getString("ERROR") == null ? "too_many_values" : header.getString("ERROR")).startsWith(code);
      }
      assertThat(function.events(Samples.mixed())).hasSize(2);
    }
    assertThat(outcomes).as(hostile.name()).isEqualTo(hostile.due());
  }

  /** ksqlDB's input must have each name once, every value, and no time that stops Kafka or ksqlDB. */
  @Test
  void decodedEventsOfHostileBatchesAreWholeJson() throws Exception {
    ObjectMapper strict = new ObjectMapper().enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);
    long latestMs = Samples.START_NS / 1_000_000;
    for (Path file : Samples.hostile()) {
      byte[] bytes = Files.readAllBytes(file);
      BatchReader batch = new BatchReader().read(bytes, 0, bytes.length);
      for (Decoded.Message message : Decoded.of(bytes, latestMs)) {
        JsonNode event = strict.readTree(message.json());
        do {
          assertThat(batch.next()).as("%s", file).isTrue();
        } while (batch.eventIndex() != event.path("event_index").asInt());
        assertThat(event.path("type").asText()).isEqualTo(batch.type().name());
        assertThat(event.size() - (event.has("non_finite") ? 1 : 0)).as("%s", file)
            .isEqualTo(12 + batch.type().fields().size() + batch.type().constants().size());
        assertThat(event.path("ts_ns").asLong()).isBetween(0L, Samples.START_NS + Duration.ofDays(1).toNanos());
        assertThat(message.topic()).matches("lifeline\\.events\\.[A-Za-z0-9._-]{1,233}");
      }
    }
  }

  /** Constants are in a batch once, and would be in every row: 1 MB became 3 GB. */
  @Test
  void refusesBatchesWhoseRowsWouldTakeAllMemory() {
    EventType.Builder wide = EventType.named("wide");
    for (int i = 0; i < 255; i++) {
      wide.constant("c" + i, FieldType.U64, "", 1L << 62);
    }
    EventType type = wide.build();
    BatchWriter batch = Samples.batch(1, 1).compression(Compression.ZSTD, 8).type(1, type);
    for (int i = 0; i < 100_000; i++) {
      batch.event(type, Samples.START_NS + i);
    }
    ByteBuffer bytes = ByteBuffer.wrap(batch.toByteArray());
    assertThatThrownBy(() -> function.events(bytes)).isInstanceOf(IllegalArgumentException.class)
        .hasMessage("too_many_values: 25500000 in the rows of one batch, of which 2000000 may be");
    assertThat(new BatchFunction().header(bytes).getInt32("EVENTS")).isEqualTo(100_000);
  }

  @Test
  void refusesWhatIsNoBatchWithCodeAndOffsetButNotTheBytes() {
    ByteBuffer batch = Samples.mixed();
    batch.put(batch.limit() - 1, (byte) (batch.get(batch.limit() - 1) ^ 1));
    assertThatThrownBy(() -> function.events(batch))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("bad_crc at ")
        .message()
        .doesNotContain("bay 4");
  }
}
