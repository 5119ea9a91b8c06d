package io.lifeline.jobs.core.bottleneck;

import static io.lifeline.jobs.core.TestBatches.at;
import static io.lifeline.jobs.core.TestBatches.batch;
import static io.lifeline.jobs.core.TestBatches.read;
import static io.lifeline.jobs.core.TestBatches.tick;
import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Recorder;
import io.lifeline.jobs.core.Recorder.Sent;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import io.lifeline.jobs.core.config.JobConfig;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** From batches to alerts, with two emitters (sender and receiver) and ten operations per second on each component. */
class BottleneckJobTest {

  private static final long BYTES = 1_000_000;

  private final Recorder output = new Recorder();
  private final Metrics metrics = new Metrics();
  private MemoryState state = new MemoryState();
  private BottleneckJob job = job(Map.of());
  private long second;

  private BottleneckJob job(Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(more);
    settings.put("broker.url", "nats://localhost");
    return new BottleneckJob(BottleneckSettings.of(JobConfig.load(null, Map.of(), settings)), state, metrics);
  }

  private void operations(BatchWriter writer, String name, double milliseconds) {
    EventType start = EventType.named(name + ".start").field("id", FieldType.U64).build();
    EventType end =
        EventType.named(name + ".end").field("id", FieldType.U64).field("nbytes", FieldType.U64, "B").build();
    for (int i = 0; i < 10; i++) {
      double from = second + i / 10.0;
      double took = milliseconds / 1000 * (1 + (i * 7 + second * 3) % 10 / 20.0);
      writer.event(start, tick(from), second * 10 + i).event(end, tick(from + took), second * 10 + i, BYTES);
    }
  }

  /** Runs the copy; the times are those of one operation of each component. */
  private void run(int seconds, double readMs, double networkMs, double writeMs) {
    for (int i = 0; i < seconds; i++) {
      BatchWriter sender = batch(1, second + 1);
      operations(sender, "disk.read", readMs);
      BatchWriter receiver = batch(2, second + 1);
      operations(receiver, "net.receive", networkMs);
      operations(receiver, "disk.write", writeMs);
      second++;
      job.accept(read(sender), at(2 * second, second), output);
      job.accept(read(receiver), at(2 * second + 1, second), output);
      job.punctuate(at(0, second).brokerTimeMs(), output);
      job.save();
    }
  }

  @Test
  void aBottleneckIsToldOnceAndSaysWhatTheAnswerRestsOn() {
    run(60, 10, 20, 60);
    assertThat(output.messages()).hasSize(1);
    Sent alert = output.messages().get(0);
    assertThat(alert.to()).isEqualTo(Destination.ALERTS);
    assertThat(alert.key()).isEqualTo("bottleneck:program%3Dcopy:disk-write");
    assertThat(alert.id()).startsWith(alert.key() + ":17").endsWith(":on");
    assertThat(alert.value())
        .startsWith(
            "{\"alert\":\"bottleneck\",\"state\":\"on\",\"group\":\"program=copy\",\"subject\":\"disk-write\","
                + "\"reason\":\"slowest\",\"since\":\"2023-11-14T22:13:")
        .contains("\"changed\":null,\"alike\":[],\"components\":[{\"component\":\"disk-read\",\"samples\":");
  }

  @Test
  void aBottleneckThatMovesEndsOneAlertAndBeginsAnother() {
    run(60, 10, 20, 60);
    output.take();
    run(60, 10, 80, 55);
    List<Sent> moved = output.take();
    assertThat(moved).extracting(Sent::id).hasSize(2).doesNotHaveDuplicates();
    assertThat(moved.get(0).key()).isEqualTo("bottleneck:program%3Dcopy:disk-write");
    assertThat(moved.get(0).value()).contains("\"state\":\"off\"", "\"reason\":\"slowest\"");
    assertThat(moved.get(1).key()).isEqualTo("bottleneck:program%3Dcopy:network");
    assertThat(moved.get(1).value()).contains("\"state\":\"on\"").containsPattern("\"changed\":\"2023-11-14T22:1");
  }

  @Test
  void anAnswerThatDoesNotLastIsNotTold() {
    job = job(Map.of("bottleneck.hold", "60s"));
    run(50, 10, 20, 60);
    assertThat(output.messages()).isEmpty();
  }

  @Test
  void theAlertEndsWithTheGroup() {
    run(60, 10, 20, 60);
    output.take();
    job.punctuate(at(0, second + 59).brokerTimeMs(), output);
    assertThat(output.messages()).isEmpty();
    job.punctuate(at(0, second + 62).brokerTimeMs(), output);
    job.save();
    assertThat(output.take()).singleElement().satisfies(
        end -> assertThat(end.value()).contains("\"state\":\"off\"", "\"reason\":\"silent\""));
    StringBuilder left = new StringBuilder();
    state.scan("bottleneck/", (key, value) -> left.append(key).append('\n'));
    assertThat(left).as("nothing is remembered").isEmpty();
  }

  /** After a crash at any time, a host resumes from the state of the last checkpoint. */
  @Test
  void aRestartChangesNeitherAnswersNorIds() {
    run(50, 10, 20, 60);
    run(50, 10, 80, 55);
    List<Sent> undisturbed = output.take();
    second = 0;
    state = new MemoryState();
    job = job(Map.of());
    for (int i = 0; i < 10; i++) {
      run(10, 10, i < 5 ? 20 : 80, i < 5 ? 60 : 55);
      StateWriter saved = new StateWriter();
      state.encode(saved);
      state = MemoryState.decode(new StateReader(saved.toBytes()));
      job = job(Map.of());
    }
    List<Sent> disturbed = output.take();
    assertThat(disturbed).hasSize(3);
    assertThat(disturbed).extracting(Sent::id).isEqualTo(undisturbed.stream().map(Sent::id).toList());
    assertThat(disturbed).extracting(Sent::value).isEqualTo(undisturbed.stream().map(Sent::value).toList());
  }

  @Test
  void anEmitterWhoseClockIsFarAheadDoesNotMakeTheOthersForgotten() {
    run(30, 10, 20, 60);
    second += 3600;
    BatchWriter ahead = batch(3, 1);
    operations(ahead, "net.receive", 1);
    second -= 3600;
    job.accept(read(ahead.finalBatch(true)), at(1, second), output);
    run(30, 10, 20, 60);
    assertThat(output.take()).singleElement().satisfies(alert -> assertThat(alert.id()).endsWith(":on"));
    assertThat(metrics.text()).containsPattern("lifeline_bottleneck_late_samples_total [12]\n");
  }

  /** Both numbers are finite, but their quotient is not: the t-test would throw, again after every restart. */
  @Test
  void aSpeedThatIsNoNumberIsLeftOut() {
    EventType summary =
        EventType.named("lifeline.summary")
            .field("type", FieldType.STRING)
            .field("field", FieldType.STRING)
            .field("interval", FieldType.I64)
            .field("count", FieldType.U64)
            .field("sum", FieldType.F64)
            .field("variance", FieldType.F64)
            .build();
    for (; second < 60; second++) {
      BatchWriter copy = batch(1, second + 1);
      operations(copy, "disk.read", 10);
      operations(copy, "disk.write", 60);
      BatchWriter hostile =
          batch(2, second + 1)
              .event(summary, tick(second), "net.receive", "duration", 1_000_000_000L, 1L, 1e-300, 0.0)
              .event(summary, tick(second), "net.receive", "value", 1_000_000_000L, 1L, 1e300, 0.0);
      job.accept(read(copy), at(2 * second, second), output);
      job.accept(read(hostile), at(2 * second + 1, second), output);
    }
    assertThat(output.take()).singleElement().satisfies(alert -> assertThat(alert.id()).endsWith(":on"));
    assertThat(metrics.text()).contains("lifeline_bottleneck_late_samples_total 60\n");
  }

  /** A command that runs a thousand times a minute results in as many emitters of one program. */
  @Test
  void emittersWithoutEndDoNotMakeTheStateOfTheirGroupLarge() {
    for (int i = 0; i < 3000; i++) {
      BatchWriter one = batch(10 + i, 1).finalBatch(true);
      operations(one, "disk.read", 10);
      job.accept(read(one), at(i, second), output);
    }
    job.save();
    StringBuilder groups = new StringBuilder();
    state.scan(
        "bottleneck/group/",
        (key, value) -> {
          groups.append(key);
          assertThat(value.length).isLessThan(100_000);
        });
    assertThat(groups).hasToString("bottleneck/group/program=copy");
  }

  @Test
  void moreGroupsThanAllowedAreCountedAndLeftOut() {
    job = job(Map.of("bottleneck.max.groups", "1"));
    run(10, 10, 20, 60);
    BatchWriter other = batch(3, 1).program("another");
    operations(other, "disk.read", 10);
    job.accept(read(other.finalBatch(true)), at(1, 10), output);
    assertThat(metrics.text()).contains("lifeline_bottleneck_overflow_samples_total 1\n");
  }
}
