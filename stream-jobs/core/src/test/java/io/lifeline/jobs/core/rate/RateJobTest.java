package io.lifeline.jobs.core.rate;

import static io.lifeline.jobs.core.TestBatches.at;
import static io.lifeline.jobs.core.TestBatches.batch;
import static io.lifeline.jobs.core.TestBatches.read;
import static io.lifeline.jobs.core.TestBatches.tick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Recorder;
import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.plan.ByEmitter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RateJobTest {

  private static final EventType NETWORK =
      EventType.named("net")
          .field("interface", FieldType.STRING)
          .field("bytes", FieldType.U64, "B")
          .field("load", FieldType.F64)
          .build();

  private final Recorder output = new Recorder();
  private final MemoryState state = new MemoryState();
  private final Metrics metrics = new Metrics();
  private Job job = job();

  @Test
  void consecutiveEventsBecomeTheirChangePerSecond() throws Exception {
    BatchWriter first = batch(1, 1).event(NETWORK, tick(1), "eth0", 1000L, 3.0);
    accept(1, first.thread(9).event(NETWORK, tick(3), "eth0", 5000L, 2.0));
    BatchReader derived = parse(output.messages().get(0).bytes());
    assertThat(derived.routeName()).isEqualTo("rates");
    assertThat(derived.counter(Counter.BELOW_THRESHOLD)).as("the first event").isEqualTo(1);
    assertThat(derived.next()).isTrue();
    assertThat(derived.type().name()).isEqualTo("net.rate");
    assertThat(derived.type().fields()).hasToString("[string interface, f64 bytes [B/s], f64 load [/s]]");
    assertThat(derived.getString(0)).isEqualTo("eth0");
    assertThat(derived.getDouble(1)).isEqualTo(2000);
    assertThat(derived.getDouble(2)).isEqualTo(-0.5);
    assertThat(derived.timeNs()).isEqualTo(tick(3));
    assertThat(derived.thread()).isEqualTo(9);
  }

  @Test
  void emittersAndStringsAreSeriesOfTheirOwnAndSurviveARestart() {
    accept(1, batch(1, 1).event(NETWORK, tick(1), "a", 1L, 0.0).event(NETWORK, tick(1), "b", 5L, 0.0));
    accept(2, batch(2, 1).event(NETWORK, tick(2), "a", 100L, 0.0));
    job.save();
    job = job();
    accept(3, batch(1, 2).event(NETWORK, tick(2), "a", 3L, 0.0).event(NETWORK, tick(3), "b", 9L, 0.0));
    assertThat(rates()).containsExactly("a 2.0", "b 2.0");
  }

  @Test
  void aClockThatIsSetBackCostsOneRate() {
    accept(1, batch(1, 1).event(NETWORK, tick(9_000), "a", 1L, 0.0).event(NETWORK, tick(1), "a", 3L, 0.0));
    accept(2, batch(1, 2).event(NETWORK, tick(2), "a", 5L, 0.0));
    assertThat(rates()).containsExactly("a 2.0");
  }

  @Test
  void aCounterMayWrapAround() {
    accept(1, batch(1, 1).event(NETWORK, tick(1), "a", -10L, 0.0).event(NETWORK, tick(2), "a", 5L, 0.0));
    assertThat(rates()).as("at 2^64").containsExactly("a 15.0");
  }

  @Test
  void otherFieldsAreOtherSeries() {
    accept(1, batch(1, 1).event(NETWORK, tick(1), "a", 1L, 0.0));
    job.save();
    job = job("rate.of", "net:load");
    accept(2, batch(1, 2).event(NETWORK, tick(2), "a", 5L, 1.0).event(NETWORK, tick(3), "a", 5L, 3.0));
    assertThat(rates()).containsExactly("a 2.0");
  }

  @Test
  void whatComesOfInfinitiesIsOneNaN() {
    double infinite = Double.POSITIVE_INFINITY;
    accept(1, batch(1, 1).event(NETWORK, tick(1), "a", 1L, infinite).event(NETWORK, tick(2), "a", 1L, infinite));
    BatchReader derived = parse(output.messages().get(0).bytes());
    assertThat(derived.next()).isTrue();
    assertThat(derived.getFloatBits(2)).isEqualTo(Double.doubleToRawLongBits(Double.NaN));
  }

  @Test
  void theOldestSeriesOfAnEmitterWithTooManyAreForgottenAndCounted() {
    for (int sequence = 1; sequence <= 4; sequence++) {
      BatchWriter batch = batch(1, sequence);
      for (int i = 0; i < 100; i++) {
        batch.event(NETWORK, tick(0), (sequence + "-" + i + "-").repeat(150), 1L, 0.0);
      }
      accept(sequence, batch);
      job.save();
    }
    state.scan("rate/", (key, value) -> assertThat(value.length).isLessThan(900_000));
    assertThat(metrics.text()).doesNotContain("lifeline_rate_forgotten_total 0\n");
    for (String series : List.of("1-0-", "4-99-")) {
      accept(5, batch(1, 5).event(NETWORK, tick(1), series.repeat(150), 2L, 0.0));
    }
    assertThat(rates()).as("the newest series").hasSize(1);
  }

  @Test
  void aTypeWhoseRateWouldHaveTooLongANameIsCounted() {
    EventType type = EventType.named("n".repeat(251)).field("bytes", FieldType.U64, "B").build();
    job = job("rate.of", type.name() + ":*");
    accept(1, batch(1, 1).event(type, tick(1), 1L).event(type, tick(2), 2L));
    assertThat(rates()).isEmpty();
    assertThat(metrics.text()).contains("lifeline_rate_long_names_total 1\n");
  }

  @Test
  void aStreamHasOneSource() {
    assertThatThrownBy(() -> job("rate.to", "durations", "jobs", "pair,rate"))
        .isInstanceOf(ConfigException.class)
        .hasMessage("rate.to=durations: pair.to names that stream already");
  }

  private Job job(String... settings) {
    Map<String, String> map = new HashMap<>(Map.of("rate.of", "net:*"));
    for (int i = 0; i < settings.length; i += 2) {
      map.put(settings[i], settings[i + 1]);
    }
    return ((ByEmitter) new RateFactory().plan(JobConfig.load(null, Map.of(), map), metrics)).job().apply(state);
  }

  private void accept(int offset, BatchWriter batch) {
    job.accept(read(batch), at(offset, offset), output);
  }

  private List<String> rates() {
    List<String> rates = new ArrayList<>();
    for (Recorder.Sent sent : output.messages()) {
      BatchReader batch = parse(sent.bytes());
      while (batch.next()) {
        rates.add(batch.getString(0) + " " + batch.getDouble(1));
      }
    }
    return rates;
  }

  private static BatchReader parse(byte[] bytes) {
    try {
      return new BatchReader().read(bytes, 0, bytes.length);
    } catch (RejectedBatchException e) {
      throw new AssertionError(e);
    }
  }
}
