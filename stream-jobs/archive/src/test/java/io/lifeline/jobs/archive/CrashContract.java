package io.lifeline.jobs.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.Incarnation;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Kills writers (SIGKILL to a separate JVM) and checks that the archive has each event exactly once. An
 * implementation's test extends this, defines the steps to kill at, and adds its own tests.
 */
@Tag("system")
@Timeout(300)
public abstract class CrashContract {
  protected static final int EVENTS = 100;
  protected static final String SERIALS =
      "SELECT count(*), count(DISTINCT serial), min(serial), max(serial) FROM \"test.serial\"";

  private static final int BATCHES = 40;
  private static final int BATCHES_PER_ROLL = 10;

  /** Result of {@link #SERIALS} for the whole topic. */
  protected static final String COMPLETE = serials(BATCHES);

  /** Opens the archive in a child process; the consumer receives each step of storing. */
  protected interface Opener {
    ArchiveWriter open(Consumer<Enum<?>> progress) throws Exception;
  }

  /** Returns the class with the child's main method, which calls {@link #archiveUntil} with its first argument. */
  protected abstract Class<?> child();

  /** Returns the other arguments of the child. */
  protected abstract List<String> arguments() throws Exception;

  protected abstract ArchiveWriter open() throws Exception;

  /** Returns the rows of a query, with cells joined by a blank. */
  protected abstract List<String> query(String sql) throws Exception;

  private static String serials(int batches) {
    int events = batches * EVENTS;
    return events + " " + events + " 0 " + (events - 1);
  }

  /** Archives the missing part of a topic; blocks at that step of the second roll. */
  protected static void archiveUntil(String step, Opener opener) throws Exception {
    int[] reached = new int[1];
    try (ArchiveWriter writer = opener.open(now -> {
      if (now.name().equals(step) && ++reached[0] == 2) {
        standStill();
      }
    })) {
      archive(writer);
    }
  }

  private static void standStill() {
    System.out.println("standing");
    try {
      TimeUnit.MINUTES.sleep(5);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Archives the missing part of the topic. */
  protected static void archive(ArchiveWriter writer) throws Exception {
    for (long offset = writer.nextOffset(0); offset < BATCHES; offset++) {
      writer.append(Archives.at(offset), Archives.serials(new Incarnation(3, 4), offset + 1, EVENTS));
      if ((offset + 1) % BATCHES_PER_ROLL == 0) {
        writer.roll();
      }
    }
  }

  /** Archives it in this process; retries, since a server frees a dead client's partition only after a moment. */
  private void archiveTheRest() throws Exception {
    while (true) {
      try (ArchiveWriter writer = open()) {
        archive(writer);
        return;
      } catch (ArchiveCollisionException e) {
        TimeUnit.MILLISECONDS.sleep(50);
      }
    }
  }

  private Process child(String step) throws Exception {
    List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-cp", System.getProperty("java.class.path"), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
        child().getName(), step));
    command.addAll(arguments());
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
  }

  /** @param stored whether the roll is archived at that step */
  protected final void isKilledAt(Enum<?> step, boolean stored) throws Exception {
    Process child = child(step.name());
    try (BufferedReader out = new BufferedReader(new InputStreamReader(child.getInputStream()))) {
      assertThat(out.readLine()).as("the child reaches " + step).isEqualTo("standing");
    } finally {
      child.destroyForcibly();
      child.waitFor();
    }
    assertThat(query(SERIALS)).as("wrong books: before the restart")
        .containsExactly(serials((stored ? 2 : 1) * BATCHES_PER_ROLL));
    archiveTheRest();
    assertThat(query(SERIALS)).as("wrong books: serials").containsExactly(COMPLETE);
  }

  @Test
  void aWriterThatIsKilledAtRandomMomentsLeavesEachEventExactlyOnce() throws Exception {
    Random random = new Random(11);
    for (int kill = 0; kill < 5; kill++) {
      Process child = child("none");
      boolean ended = child.waitFor(300 + random.nextInt(700), TimeUnit.MILLISECONDS);
      child.destroyForcibly();
      child.waitFor();
      if (ended) {
        break;
      }
    }
    archiveTheRest();
    assertThat(query(SERIALS)).as("wrong books: serials").containsExactly(COMPLETE);
    assertThat(query("SELECT missing_batches, batches FROM ledger")).as("wrong books: ledger").containsExactly("0 40");
  }
}
