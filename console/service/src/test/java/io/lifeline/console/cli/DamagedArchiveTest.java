package io.lifeline.console.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.archive.sql.ArchiveDatabase;
import io.lifeline.jobs.core.Position;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The command refuses an archive that it would show wrongly, and names the file. */
class DamagedArchiveTest {
  private static final EventType STEP = EventType.named("step").field("id", FieldType.U64).build();
  private static final int EVENTS = 100;

  @TempDir Path directory;

  @BeforeEach
  void archive() throws Exception {
    BatchWriter batch = new BatchWriter().incarnation(new Incarnation(1, 2)).sequence(1).host("here").program("walker")
        .pid(42).calibration(0, 0, 1_790_000_000_000_000_000L, 0, false).counter(Counter.EMITTED, EVENTS);
    for (int event = 0; event < EVENTS; event++) {
      batch.event(STEP, event, (long) event);
    }
    try (ArchiveWriter writer = new ParquetArchive(ParquetOptions.in(directory).withThreads(1)).open(rejection -> {})) {
      writer.append(new Position(0, 0, 1_790_000_000_000L), batch.toByteArray());
    }
  }

  private Path only(String folder, String suffix) throws Exception {
    try (Stream<Path> files = Files.walk(directory.resolve(folder))) {
      return files.filter(file -> file.toString().endsWith(suffix)).findFirst().orElseThrow();
    }
  }

  private void refused(String... reason) {
    StringWriter err = new StringWriter();
    CommandLine command = Main.commandLine().setErr(new PrintWriter(err, true));
    assertThat(command.execute(directory.toString(), "--listen", "127.0.0.1:0")).isEqualTo(1);
    List<String> lines = err.toString().lines().toList();
    assertThat(lines).hasSize(2);
    assertThat(lines.get(0)).matches("lifeline-console: opening " + directory + " for http://127\\.0\\.0\\.1:[0-9]+/");
    assertThat(lines.get(1)).startsWith("lifeline-console: ").contains(reason);
  }

  @Test
  void aPortThatIsInUseIsAnErrorBeforeTheArchiveIsOpened() throws Exception {
    Files.delete(only("manifests", ".json"));
    StringWriter err = new StringWriter();
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String place = "127.0.0.1:" + taken.getLocalPort();
      CommandLine command = Main.commandLine().setErr(new PrintWriter(err, true));
      assertThat(command.execute(directory.toString(), "--listen", place)).isEqualTo(1);
      assertThat(err.toString()).startsWith("lifeline-console: cannot listen on " + place + ": ").hasLineCount(1);
    }
  }

  @Test
  void aTruncatedManifestIsRefused() throws Exception {
    Path manifest = only("manifests", ".json");
    Files.writeString(manifest, Files.readString(manifest).substring(0, 100));
    refused("the manifest " + manifest + " is damaged: restore it from a backup");
  }

  @Test
  void aManifestOfANewerReleaseIsRefused() throws Exception {
    Path manifest = only("manifests", ".json");
    Files.writeString(manifest, Files.readString(manifest).replaceFirst("\"version\":[0-9]+", "\"version\":99"));
    refused("the manifest " + manifest + " has version 99, which this program does not know: use a newer one");
  }

  @Test
  void aLostManifestIsRefused() throws Exception {
    Files.delete(only("manifests", ".json"));
    refused("has lost the last manifests of partition 0", "restore its manifests from a backup");
  }

  @Test
  void aLostDataFileIsRefused() throws Exception {
    Path file = only("data", ".parquet");
    Files.delete(file);
    refused(file.getFileName().toString());
  }

  @Test
  void aFileWithoutAManifestIsNotRead() throws Exception {
    Path file = only("data", ".parquet");
    byte[] half = Files.readAllBytes(file);
    Files.write(file.resolveSibling("half.parquet"), Arrays.copyOf(half, half.length / 2));
    try (ArchiveDatabase database = ArchiveDatabase.open(directory);
        var query = database.prepare("SELECT count(*) FROM events");
        var row = query.executeQuery()) {
      row.next();
      assertThat(row.getLong(1)).isEqualTo(EVENTS);
    }
  }
}
