package io.lifeline.jobs.core.decode;

import static io.lifeline.jobs.core.TestBatches.LOAD;
import static io.lifeline.jobs.core.TestBatches.READ;
import static io.lifeline.jobs.core.TestBatches.at;
import static io.lifeline.jobs.core.TestBatches.batch;
import static io.lifeline.jobs.core.TestBatches.emitter;
import static io.lifeline.jobs.core.TestBatches.read;
import static io.lifeline.jobs.core.TestBatches.tick;
import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Level;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Recorder;
import io.lifeline.jobs.core.Recorder.Sent;
import io.lifeline.jobs.core.config.JobConfig;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DecodeJobTest {

  private final Recorder output = new Recorder();
  private final Metrics metrics = new Metrics();

  @Test
  void writesAnEventAsFlatJson() {
    decode("disk.read.end", batch(1, 3).event(READ, tick(1.5), 7L, -1L));
    Sent sent = output.messages().get(0);
    assertThat(sent.to().topic("lifeline")).isEqualTo("lifeline.events.disk.read.end");
    assertThat(sent.key()).isEqualTo("000000000000abcd0000000000000001");
    assertThat(sent.id()).isEqualTo("000000000000abcd0000000000000001-0-3-0");
    assertThat(sent.value())
        .isEqualTo(
            "{\"ts\":\"2023-11-14T22:13:21.500000000Z\",\"ts_ns\":1700000001500000000,\"type\":\"disk.read.end\","
                + "\"level\":\"info\",\"host\":\"host-a\",\"program\":\"copy\",\"pid\":42,\"thread\":7,"
                + "\"incarnation\":\"000000000000abcd0000000000000001\",\"route\":0,\"sequence\":3,\"event_index\":0,"
                + "\"id\":7,\"nbytes\":18446744073709551615}");
  }

  @Test
  void leavesOutTypesThatAreNotAllowed() {
    decode("net.*,disk.write.end", batch(1, 1).event(READ, tick(1), 1L, 2L));
    assertThat(output.messages()).isEmpty();
  }

  @Test
  void allowsTypesByPrefix() {
    decode("disk.*", batch(1, 1).event(READ, tick(1), 1L, 2L).event(READ, tick(1), 2L, 2L));
    assertThat(output.messages()).extracting(Sent::id)
        .containsExactly("000000000000abcd0000000000000001-0-1-0", "000000000000abcd0000000000000001-0-1-1");
  }

  @Test
  void writesEveryTypeOfFieldAndSaysWhichNumbersJsonCannotHold() {
    EventType all =
        EventType.named("all")
            .level(Level.WARN)
            .field("i32", FieldType.I32)
            .field("u32", FieldType.U32)
            .field("i64", FieldType.I64)
            .field("f32", FieldType.F32)
            .field("f64", FieldType.F64)
            .field("not", FieldType.F64)
            .field("below", FieldType.F32)
            .field("string", FieldType.STRING)
            .field("bool", FieldType.BOOL)
            .field("bytes", FieldType.BYTES)
            .field("host", FieldType.STRING)
            .constant("stage", FieldType.STRING, "", "net")
            .constant("limit", FieldType.F64, "", Double.POSITIVE_INFINITY)
            .build();
    BatchWriter batch =
        batch(1, 1)
            .type(3, all)
            .event(all, tick(1), -1, 4_000_000_000L, Long.MIN_VALUE, 0.1f, 1e300, Double.NaN, Float.NEGATIVE_INFINITY,
                "a\"\\\u0001é\n", true, new byte[] {0, (byte) 0xff}, "shadow");
    decode("*", batch);
    assertThat(output.messages().get(0).value())
        .endsWith(
            "\"event_index\":0,\"stage\":\"net\",\"limit\":null,\"i32\":-1,\"u32\":4000000000,"
                + "\"i64\":-9223372036854775808,\"f32\":0.1,\"f64\":1.0E300,\"not\":null,\"below\":null,"
                + "\"string\":\"a\\\"\\\\\\u0001é\\n\",\"bool\":true,\"bytes\":\"00ff\",\"host_\":\"shadow\","
                + "\"non_finite\":{\"limit\":\"inf\",\"not\":\"nan\",\"below\":\"-inf\"}}");
  }

  @Test
  void leavesOutEventsThatNoBrokerTakesAndGoesOn() {
    EventType large =
        EventType.named("large").constant("blob", FieldType.BYTES, "", new byte[60_000]).build();
    decode("*", batch(1, 1).type(3, large).event(large, tick(1)).event(LOAD, tick(1), 0.5));
    assertThat(output.messages()).extracting(sent -> sent.to().name()).containsExactly("host.load");
    assertThat(metrics.text()).contains("lifeline_decode_oversize_total 1\n", "lifeline_decode_events_total 1\n");
  }

  @Test
  void namesTopicsThatBothBrokersTake() {
    List<String> names = List.of("a b/c", "a..b", ".a.", "Ä", "ok-1_2.x");
    assertThat(names).extracting(name -> Destination.events(name).topic("p"))
        .containsExactly("p.events.a_b_c", "p.events.a._.b", "p.events._.a._", "p.events._", "p.events.ok-1_2.x");
  }

  @Test
  void cutsNamesThatAreTooLongForATopicAndKeepsThemApart() {
    String name = "x".repeat(254);
    String topic = Destination.events(name + "y").topic("lifeline");
    assertThat(topic).hasSize(249).startsWith("lifeline.events.xxx");
    assertThat(Destination.events(name + "z").topic("lifeline")).isNotEqualTo(topic);
    assertThat(Destination.events("x" + "x.".repeat(127)).topic("lifeline")).as("no empty token").doesNotEndWith(".");
  }

  @Test
  void leavesOutAndCountsWhatIsDatedAheadOrBefore1970() {
    long aheadMs = 30 * 60_000 + 1001;
    decode("*", batch(1, 1).event(READ, tick(aheadMs / 1e3), 1L, 2L).event(READ, tick(1), 2L, 2L));
    decode("*", new BatchWriter().incarnation(emitter(1)).sequence(2).calibration(0, 0, -1, 0, false)
        .event(READ, 0, 3L, 2L));
    assertThat(output.messages()).extracting(Sent::id).containsExactly("000000000000abcd0000000000000001-0-1-1");
    assertThat(metrics.text()).contains("lifeline_decode_skewed_total 2\n", "lifeline_decode_events_total 1\n");
  }

  private void decode(String types, BatchWriter batch) {
    DecodeSettings settings = DecodeSettings.of(JobConfig.load(null, Map.of(), Map.of("decode.types", types)));
    new DecodeJob(settings, metrics).accept(read(batch), at(1, 1), output);
  }
}
