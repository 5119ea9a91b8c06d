package io.lifeline.jobs.cli.tail;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.codec.Level;
import io.lifeline.jobs.cli.Main;
import io.lifeline.servers.PrivateBroker;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the command as a process, on either broker. */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
abstract class TailOnBroker {
  static final int EVENTS = 10;
  private static final int PATIENCE_S = 60;
  private static final EventType READ =
      EventType.named("disk.read.end").field("id", FieldType.U64).field("nbytes", FieldType.U64, "B").build();
  private static final EventType FAILED =
      EventType.named("copy.failed").level(Level.ERROR).field("id", FieldType.U64).build();
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path directory;

  private long sequence;
  private final List<Process> started = new ArrayList<>();

  abstract PrivateBroker broker();

  /** Returns where {@link #publish} stores batches. */
  abstract String url();

  /** Stores a batch of the emitter with this number. */
  abstract void publish(int emitter, byte[] batch) throws Exception;

  @Test
  void printsHistoryThenWhatArrivesUntilItIsAskedToEnd() throws Exception {
    publishReads("copy");
    publishReads("copy");
    Process tail = tail("--history", "10m");
    BufferedReader out = tail.inputReader();
    for (int i = 0; i < 2 * EVENTS; i++) {
      assertThat(out.readLine()).contains("disk.read.end     info   host-a    copy      42     id=" + i + " nbytes=");
    }
    publishReads("copy");
    for (int i = 0; i < EVENTS; i++) {
      assertThat(out.readLine()).contains(" id=" + (2 * EVENTS + i) + " ");
    }
    tail.toHandle().destroy(); // leaves the output open
    assertThat(summary(tail)).startsWith("events=" + 3 * EVENTS + " skipped=0 batches=3 missing_batches=0 ");
    assertThat(out.readLine()).isNull();
    assertThat(tail.exitValue()).isZero();
  }

  @Test
  void printsOnlyWhatArrivesWithoutHistory() throws Exception {
    publishReads("before");
    Process tail = tail("--program", "a*er", "--count", "1", "--json");
    while (tail.isAlive()) { // it does not say when it reads
      publishReads("after");
      tail.waitFor(100, TimeUnit.MILLISECONDS);
    }
    JsonNode event = JSON.readTree(tail.inputReader().readLine());
    assertThat(event.get("program").textValue()).isEqualTo("after");
    assertThat(event.get("type").textValue()).isEqualTo("disk.read.end");
    assertThat(event.get("host").textValue()).isEqualTo("host-a");
    assertThat(event.get("pid").intValue()).isEqualTo(42);
    assertThat(event.get("nbytes").longValue()).isEqualTo(event.get("id").longValue() * 100);
    assertThat(tail.exitValue()).isZero();
  }

  @Test
  void selectsByTypeProgramHostAndCondition() throws Exception {
    publishReads("copy");
    publishReads("move");
    publishFailed("copy");
    publishFailed("move");
    assertThat(lines("--from", "0", "--count", "1", "--type", "nothing", "--type", "*.failed", "--program", "mo*",
        "--host", "*-a", "--where", "level == 'error' && id >= 1000")).singleElement()
        .asString().contains("copy.failed       error ", " move ").endsWith(" id=1000");
  }

  @Test
  void aFileGetsEveryEvent() throws Exception {
    int batches = 200;
    for (int i = 0; i < batches; i++) {
      publishReads("copy");
    }
    Path file = directory.resolve("events.json");
    ProcessBuilder builder = command("--from", "0", "--count", Integer.toString(batches * EVENTS), "--json");
    Process tail = start(builder.redirectOutput(file.toFile()));
    assertThat(summary(tail)).startsWith("events=" + batches * EVENTS + " skipped=0 batches=" + batches + " ");
    assertThat(Files.readAllLines(file)).hasSize(batches * EVENTS).last().asString()
        .contains("\"id\":" + (batches * EVENTS - 1) + ",");
  }

  @Test
  void reportsABrokerThatIsAwayAndGoesOn() throws Exception {
    publishReads("copy");
    Process tail = tail("--from", "0");
    BufferedReader out = tail.inputReader();
    for (int i = 0; i < EVENTS; i++) {
      assertThat(out.readLine()).contains(" id=" + i + " ");
    }
    broker().kill();
    BufferedReader err = tail.errorReader();
    String line = err.readLine();
    while (!line.endsWith(" does not answer (waiting)")) {
      line = err.readLine();
    }
    broker().start();
    publishReads("copy");
    for (int i = EVENTS; i < 2 * EVENTS; i++) {
      assertThat(out.readLine()).contains(" id=" + i + " ");
    }
    tail.toHandle().destroy();
    assertThat(summary(tail)).startsWith("events=" + 2 * EVENTS + " ");
  }

  /** A program such as head ends first. */
  @Test
  void endsWhenItsReaderDoes() throws Exception {
    publishReads("copy");
    Process tail = tail("--from", "0");
    assertThat(tail.inputReader().readLine()).contains(" id=0 ");
    tail.getInputStream().close();
    while (tail.isAlive()) {
      publishReads("copy");
      tail.waitFor(100, TimeUnit.MILLISECONDS);
    }
    assertThat(tail.exitValue()).isZero();
    assertThat(summary(tail)).doesNotContain("Broken pipe");
  }

  void publishFailed(String program) throws Exception {
    publish(3, batch(3, program).event(FAILED, nowNs(), 1000L).toByteArray());
  }

  void publishReads(String program) throws Exception {
    publish(1, reads(program));
  }

  /** Returns the next batch of the first emitter. */
  byte[] reads(String program) {
    BatchWriter batch = batch(1, program);
    for (int i = 0; i < EVENTS; i++) {
      long id = (sequence - 1) * EVENTS + i;
      batch.event(READ, nowNs() + i, id, id * 100);
    }
    return batch.toByteArray();
  }

  private BatchWriter batch(int emitter, String program) {
    return new BatchWriter().incarnation(new Incarnation(emitter, emitter)).sequence(++sequence).host("host-a")
        .program(program).pid(42).ticks(nowNs(), 1_000_000_000, true).thread(7);
  }

  private static long nowNs() {
    return System.currentTimeMillis() * 1_000_000;
  }

  List<String> lines(String... options) throws Exception {
    Process tail = tail(options);
    List<String> lines = tail.inputReader().lines().toList();
    assertThat(summary(tail)).startsWith("events=" + lines.size() + " ");
    return lines;
  }

  /** Waits for the end and returns the last line of standard error. */
  private static String summary(Process tail) throws Exception {
    List<String> lines = tail.errorReader().lines().toList();
    assertThat(tail.waitFor(PATIENCE_S, TimeUnit.SECONDS)).isTrue();
    assertThat(lines).isNotEmpty();
    return lines.get(lines.size() - 1);
  }

  Process tail(String... options) throws IOException {
    return start(command(options));
  }

  Process start(ProcessBuilder builder) throws IOException {
    Process process = builder.start();
    started.add(process);
    return process;
  }

  void endStarted() {
    started.forEach(Process::destroyForcibly);
  }

  private ProcessBuilder command(String... options) {
    return new ProcessBuilder(words(options));
  }

  List<String> words(String... options) {
    List<String> command = new ArrayList<>(List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC", "-cp", System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
        Main.class.getName(), "tail", "--broker", url()));
    command.addAll(List.of(options));
    return command;
  }
}
