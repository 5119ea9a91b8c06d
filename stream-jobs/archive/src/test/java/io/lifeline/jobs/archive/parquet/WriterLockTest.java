package io.lifeline.jobs.archive.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveCollisionException;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests locks between tasks of one process, as in a Kafka Connect worker, and between processes. */
@Tag("system")
@Timeout(120)
class WriterLockTest {
  @TempDir Path directory;

  /** Tries to take partition 0, in a separate process. */
  public static void main(String[] arguments) throws Exception {
    try (ArchiveWriter writer = Archives.open(Path.of(arguments[0]))) {
      writer.nextOffset(0);
      System.exit(3);
    } catch (ArchiveCollisionException e) {
      System.exit(4);
    }
  }

  private boolean anotherProcessGetsIt() throws Exception {
    Process child =
        new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
            System.getProperty("java.class.path"), "-XX:TieredStopAtLevel=1", WriterLockTest.class.getName(),
            directory.toString()).inheritIO().start();
    int exit = child.waitFor();
    assertThat(exit).isIn(3, 4);
    return exit == 3;
  }

  @Test
  void anotherTaskOfTheProcessThatAsksInVainDoesNotGiveTheLockAway() throws Exception {
    try (ArchiveWriter holder = Archives.open(directory); ArchiveWriter asking = Archives.open(directory)) {
      holder.append(Archives.at(0), Archives.serials(new Incarnation(1, 1), 1, 10));
      assertThatThrownBy(() -> asking.nextOffset(0)).isInstanceOf(ArchiveCollisionException.class);
      assertThat(anotherProcessGetsIt()).isFalse();
      holder.release(0);
      assertThat(anotherProcessGetsIt()).isTrue();
      assertThat(asking.nextOffset(0)).isZero();
    }
  }

  /** Plugins of a worker have separate class loaders in one process. */
  @Test
  void neitherDoesOneWhoseClassesWereLoadedApart() throws Exception {
    Path file = Files.createDirectories(directory.resolve("locks")).resolve("partition-0");
    List<URL> urls = new ArrayList<>();
    for (String part : System.getProperty("java.class.path").split(":")) {
      urls.add(Path.of(part).toUri().toURL());
    }
    try (URLClassLoader apart = new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
        WriterLock held = WriterLock.tryLock(file)) {
      assertThat(held).isNotNull();
      Class<?> other = apart.loadClass(WriterLock.class.getName());
      assertThat(other).isNotSameAs(WriterLock.class);
      var tryLock = other.getDeclaredMethod("tryLock", Path.class);
      tryLock.setAccessible(true);
      assertThat(tryLock.invoke(null, file)).isNull();
      Path link = Files.createSymbolicLink(directory.resolve("link"), directory);
      assertThat(tryLock.invoke(null, link.resolve("locks/partition-0"))).as("by another path").isNull();
      assertThat(anotherProcessGetsIt()).isFalse();
    }
  }

  /** As if locks failed and another writer had removed the files as those of a dead one. */
  @Test
  void filesThatVanishBeforeTheirManifestStandsAreNotPublished() throws Exception {
    ArchiveWriter writer = open(PublicationStep.FILES_SYNCED);
    writer.append(Archives.at(0), Archives.serials(new Incarnation(1, 1), 1, 10));
    assertThatThrownBy(writer::roll).isInstanceOf(ArchiveException.class).hasMessageContaining("has lost");
    assertThat(writer.durableOffset(0)).isZero();
    writer.abandon();
    try (ArchiveWriter next = Archives.open(directory)) {
      assertThat(next.nextOffset(0)).isZero();
      next.append(Archives.at(0), Archives.serials(new Incarnation(1, 1), 1, 10));
    }
    assertThat(Archives.query(directory, "SELECT count(*) FROM events")).containsExactly("10");
  }

  @Test
  void filesThatVanishAfterwardsAreAnErrorAtOnce() throws Exception {
    ArchiveWriter writer = open(PublicationStep.MANIFEST_LINKED);
    writer.append(Archives.at(0), Archives.serials(new Incarnation(1, 1), 1, 10));
    assertThatThrownBy(writer::roll).isInstanceOf(ArchiveException.class).hasMessageContaining("has lost")
        .hasMessageContaining("stop one of them");
    writer.abandon();
  }

  /** Opens a writer whose unpublished files disappear at that step. */
  private ArchiveWriter open(PublicationStep when) throws IOException {
    return new ParquetArchive(ParquetOptions.in(directory).withThreads(1)).open(rejection -> {}, step -> {
      if (step == when) {
        try (Stream<Path> files = Files.list(directory.resolve("data"))) {
          for (Path file : files.toList()) {
            Files.delete(file);
          }
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    });
  }
}
