package io.lifeline.jobs.archive.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Kills writers (SIGKILL to a JVM of their own) and looks whether each event is in the archive exactly once. */
@Timeout(120)
class CrashTest {
  private static final int BATCHES = 40;
  private static final int BATCHES_PER_ROLL = 10;
  private static final int EVENTS = 100;
  private static final String SERIALS =
      "SELECT count(*), count(DISTINCT serial), min(serial), max(serial) FROM \"test.serial\"";
  private static final String COMPLETE =
      BATCHES * EVENTS + " " + BATCHES * EVENTS + " 0 " + (BATCHES * EVENTS - 1);

  @TempDir Path directory;

  /** Archives what is missing of a topic of {@link #BATCHES} batches; stands still at a step of the second roll. */
  public static final class Child {
    public static void main(String[] arguments) throws Exception {
      Path directory = Path.of(arguments[0]);
      String step = arguments[1];
      int[] reached = new int[PublicationStep.values().length];
      try (ArchiveWriter writer = new ParquetArchive(
          ParquetOptions.in(directory).withThreads(1).withRareRows(EVENTS)).open(rejection -> {}, now -> {
            if (now.name().equals(step) && ++reached[now.ordinal()] == 2) {
              standStill();
            }
          })) {
        archive(writer);
      }
      System.out.println("done");
    }

    private static void standStill() {
      System.out.println("standing");
      try {
        TimeUnit.MINUTES.sleep(5);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static void archive(ArchiveWriter writer) throws Exception {
    for (long offset = writer.nextOffset(0); offset < BATCHES; offset++) {
      writer.append(Archives.at(offset), Archives.serials(new Incarnation(3, 4), offset + 1, EVENTS));
      if ((offset + 1) % BATCHES_PER_ROLL == 0) {
        writer.roll();
      }
    }
  }

  private Process child(String step) throws Exception {
    List<String> command = List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
        System.getProperty("java.class.path"), "-XX:TieredStopAtLevel=1", Child.class.getName(), directory.toString(),
        step);
    return new ProcessBuilder(command).redirectError(new File("/dev/null")).start();
  }

  @ParameterizedTest
  @EnumSource(PublicationStep.class)
  void aWriterThatIsKilledAtAnyStepLeavesEachEventExactlyOnce(PublicationStep step) throws Exception {
    Process child = child(step.name());
    try (BufferedReader out = new BufferedReader(new InputStreamReader(child.getInputStream()))) {
      assertThat(out.readLine()).as("the child reaches " + step).isEqualTo("standing");
    } finally {
      child.destroyForcibly();
      child.waitFor();
    }
    boolean published = step.compareTo(PublicationStep.MANIFEST_LINKED) >= 0;
    int rolls = published ? 2 : 1;
    int events = rolls * BATCHES_PER_ROLL * EVENTS;
    assertThat(Archives.query(directory, SERIALS)).as("what a reader sees before the restart")
        .containsExactly(events + " " + events + " 0 " + (events - 1));
    try (ArchiveWriter writer = Archives.open(directory)) {
      archive(writer);
    }
    assertThat(Archives.query(directory, SERIALS)).containsExactly(COMPLETE);
    try (Stream<Path> files = Files.list(directory.resolve("data"))) {
      assertThat(files).allSatisfy(file -> assertThat(file.toString()).endsWith(".parquet"));
    }
  }

  @Test
  void aWriterThatIsKilledAtRandomMomentsLeavesEachEventExactlyOnce() throws Exception {
    Random random = new Random(11);
    for (int kill = 0; kill < 5; kill++) {
      Process child = child("none");
      boolean ended = child.waitFor(Duration.ofMillis(300 + random.nextInt(700)).toMillis(), TimeUnit.MILLISECONDS);
      child.destroyForcibly();
      child.waitFor();
      if (ended) {
        break;
      }
    }
    try (ArchiveWriter writer = Archives.open(directory)) {
      archive(writer);
    }
    assertThat(Archives.query(directory, SERIALS)).containsExactly(COMPLETE);
    assertThat(Archives.query(directory, "SELECT missing_batches, batches FROM ledger")).containsExactly("0 40");
  }
}
