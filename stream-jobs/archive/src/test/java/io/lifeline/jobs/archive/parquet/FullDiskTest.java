package io.lifeline.jobs.archive.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveWriteException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk that is really full: a small tmpfs of its own. */
class FullDiskTest {
  private static final Incarnation EMITTER = new Incarnation(5, 6);

  @TempDir Path mountPoint;

  private Path archive;

  @BeforeEach
  void mountSmallDisk() throws Exception {
    assumeTrue(run("mount", "-t", "tmpfs", "-o", "size=512k", "lifeline-test", mountPoint.toString()) == 0,
        "mounting a tmpfs needs privileges");
    archive = mountPoint.resolve("archive");
  }

  @AfterEach
  void unmount() throws Exception {
    run("umount", mountPoint.toString());
  }

  private static int run(String... command) throws Exception {
    try {
      return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start().waitFor();
    } catch (IOException e) {
      return -1;
    }
  }

  @Test
  void aFullDiskIsAClearErrorAndTheSameWriterGoesOnWhenThereIsRoomAgain() throws Exception {
    Path ballast = mountPoint.resolve("ballast");
    try (ArchiveWriter writer = Archives.open(archive)) {
      writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 1_000));
      writer.roll();
      fill(ballast);
      writer.append(Archives.at(1), Archives.serials(EMITTER, 2, 20_000));
      Throwable failure = catchThrowable(writer::roll);
      assertThat(failure).isInstanceOf(ArchiveWriteException.class).hasMessageContaining("cannot write")
          .hasMessageContaining("No space left on device").hasMessageContaining("free space");
      assertThat(dataFiles()).as("what was half written is gone").isEqualTo(2);
      assertThat(Archives.query(archive, "SELECT count(*) FROM events")).containsExactly("1000");
      Files.delete(ballast);
      writer.roll();
    }
    assertThat(Archives.query(archive, "SELECT count(*), count(DISTINCT serial) FROM \"test.serial\""))
        .containsExactly("21000 21000");
  }

  @Test
  void afterAFullDiskANewWriterReadsTheSameBatchesAgain() throws Exception {
    Path ballast = mountPoint.resolve("ballast");
    ArchiveWriter writer = Archives.open(archive);
    writer.nextOffset(0);
    fill(ballast);
    writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 20_000));
    assertThat(catchThrowable(writer::close)).isInstanceOf(ArchiveException.class);
    Files.delete(ballast);
    try (ArchiveWriter next = Archives.open(archive)) {
      assertThat(next.nextOffset(0)).isZero();
      next.append(Archives.at(0), Archives.serials(EMITTER, 1, 20_000));
    }
    assertThat(Archives.query(archive, "SELECT count(*), count(DISTINCT serial) FROM \"test.serial\""))
        .containsExactly("20000 20000");
  }

  private static void fill(Path file) throws IOException {
    byte[] page = new byte[4096];
    try (var out = Files.newOutputStream(file)) {
      while (true) {
        out.write(page);
      }
    } catch (IOException full) {
      assertThat(full).hasMessageContaining("No space left");
    }
  }

  private long dataFiles() throws IOException {
    try (Stream<Path> files = Files.list(archive.resolve("data"))) {
      return files.count();
    }
  }
}
