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
 * Kills writers (SIGKILL to a JVM of their own) and looks whether each event is in the archive exactly once. The test
 * of an implementation extends this, says at which steps, and adds what is its own.
 */
@Tag("system")
@Timeout(300)
public abstract class CrashContract {
  protected static final int EVENTS = 100;
  protected static final String SERIALS =
      "SELECT count(*), count(DISTINCT serial), min(serial), max(serial) FROM \"test.serial\"";

  private static final int BATCHES = 40;
  private static final int BATCHES_PER_ROLL = 10;

  /** What {@link #SERIALS} says of the whole topic. */
  protected static final String COMPLETE = serials(BATCHES);

  /** Opens the archive in a child; the consumer is to be told of each step of storing. */
  protected interface Opener {
    ArchiveWriter open(Consumer<Enum<?>> progress) throws Exception;
  }

  /** The class with the main method of a child, which calls {@link #archiveUntil} with its first argument. */
  protected abstract Class<?> child();

  /** The other arguments of the child. */
  protected abstract List<String> arguments() throws Exception;

  protected abstract ArchiveWriter open() throws Exception;

  /** The rows, the cells of each joined by a blank. */
  protected abstract List<String> query(String sql) throws Exception;

  private static String serials(int batches) {
    int events = batches * EVENTS;
    return events + " " + events + " 0 " + (events - 1);
  }

  /** Archives what is missing of a topic; stands still at that step of the second roll. */
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

  /** Archives what is missing of the topic. */
  protected static void archive(ArchiveWriter writer) throws Exception {
    for (long offset = writer.nextOffset(0); offset < BATCHES; offset++) {
      writer.append(Archives.at(offset), Archives.serials(new Incarnation(3, 4), offset + 1, EVENTS));
      if ((offset + 1) % BATCHES_PER_ROLL == 0) {
        writer.roll();
      }
    }
  }

  /** The same in this process; a server needs a moment to notice that its client died, and then frees the partition. */
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

  /**
   * @param stored whether the roll is in the archive at that step
   */
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
