package io.lifeline.jobs.archive.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.Appended;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerifierTest {
  private static final Incarnation EMITTER = new Incarnation(1, 1);

  @TempDir Path directory;

  @BeforeEach
  void archiveTwoRolls() throws Exception {
    try (ArchiveWriter writer = Archives.open(directory)) {
      for (int i = 0; i < 2; i++) {
        writer.append(Archives.at(i), Archives.serials(EMITTER, i + 1, 100));
        writer.roll();
      }
    }
  }

  private Compactor compactor() {
    return new Compactor(ParquetOptions.in(directory).withThreads(1), 1 << 20, Duration.ofHours(1));
  }

  private List<Path> files(String folder, String ending) throws Exception {
    try (Stream<Path> files = Files.list(directory.resolve(folder))) {
      return files.filter(file -> file.toString().endsWith(ending)).sorted().toList();
    }
  }

  private void flipABit(Path file) throws Exception {
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2] ^= 1;
    Files.write(file, bytes);
  }

  /** Rewrites the manifests as earlier releases wrote them. */
  private void forgetHashes() throws Exception {
    for (Path manifest : files("manifests", ".json")) {
      ObjectNode json = (ObjectNode) Json.MAPPER.readTree(manifest.toFile());
      json.remove("source");
      json.path("files").forEach(file -> ((ObjectNode) file).remove("sha256"));
      Json.MAPPER.writeValue(manifest.toFile(), json);
    }
  }

  @Test
  void aSoundArchiveHasNoDamageBeforeAndAfterACompaction() throws Exception {
    assertThat(Verifier.verify(directory)).extracting("files", "unhashed", "damages").containsExactly(4, 0, List.of());
    compactor().compact();
    assertThat(Verifier.verify(directory)).extracting("files", "unhashed", "damages").containsExactly(2, 0, List.of());
  }

  @Test
  void aBitThatTurnedIsFoundAndNotCopied() throws Exception {
    Path rotten = files("data", ".parquet").get(0);
    flipABit(rotten);
    assertThat(Verifier.verify(directory).damages()).singleElement().asString()
        .contains(rotten.getFileName().toString(), "was changed after it was written", "0-00000000000000000000.json");
    assertThat(compactor().compact().damages()).singleElement().asString()
        .contains(rotten.getFileName().toString(), "restore it from a backup");
    assertThat(Manifests.read(new ArchiveDirectory(directory))).as("nothing was replaced").hasSize(2);
  }

  @Test
  void aFileThatWasCutOffOrLostIsFound() throws Exception {
    List<Path> files = files("data", ".parquet");
    Files.write(files.get(0), new byte[10]);
    Files.delete(files.get(1));
    assertThat(Verifier.verify(directory).damages()).hasSize(2);
  }

  @Test
  void aManifestThatLacksItsEndIsFound() throws Exception {
    Path manifest = files("manifests", ".json").get(0);
    String text = Files.readString(manifest);
    Files.writeString(manifest, text.substring(0, text.length() - 20));
    assertThatThrownBy(() -> Verifier.verify(directory)).isInstanceOf(ArchiveException.class)
        .hasMessageContaining("is damaged: restore it from a backup");
  }

  @Test
  void whatAnEarlierProgramWroteIsReadAndReportedAsUnverified() throws Exception {
    forgetHashes();
    flipABit(files("data", ".parquet").get(0));
    assertThat(Verifier.verify(directory)).extracting("files", "unhashed", "damages").containsExactly(4, 4, List.of());
    try (ArchiveWriter writer = Archives.open(directory)) {
      assertThat(writer.append(Archives.at(2), Archives.serials(EMITTER, 3, 100))).isEqualTo(Appended.ACCEPTED);
    }
    assertThat(Verifier.verify(directory).unhashed()).isEqualTo(4);
  }

  @Test
  void aLastManifestThatWasRemovedIsMissed() throws Exception {
    Files.delete(files("manifests", ".json").get(1));
    for (var use : List.<org.assertj.core.api.ThrowableAssert.ThrowingCallable>of(
        () -> Verifier.verify(directory), () -> Archives.query(directory, "SELECT 1"),
        () -> Archives.open(directory).nextOffset(0))) {
      assertThatThrownBy(use).isInstanceOf(ArchiveException.class)
          .hasMessageContaining("has lost the last manifests of partition 0: it went up to offset 2 and now ends at 1");
    }
    Files.delete(directory.resolve("manifests/0.end"));
    try (ArchiveWriter writer = Archives.open(directory)) {
      assertThat(writer.nextOffset(0)).isEqualTo(1);
    }
  }
}
