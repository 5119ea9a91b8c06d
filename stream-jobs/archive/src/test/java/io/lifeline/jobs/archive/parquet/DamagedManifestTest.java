package io.lifeline.jobs.archive.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.cases.Cases;
import io.lifeline.cases.Inputs;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Any bytes in the place of a manifest are read as they are, or reported with the name of the file. */
class DamagedManifestTest {
  private static final String CHARACTERS = "{}[]\",:0123456789-.eE truefalsn/";

  @TempDir Path directory;

  @Test
  void damageIsReported() throws Exception {
    try (ArchiveWriter writer = Archives.open(directory)) {
      for (int i = 0; i < 3; i++) {
        writer.append(Archives.at(i), Archives.serials(new Incarnation(i, 1), 1, 2));
      }
    }
    String name = ArchiveDirectory.manifestName(0, 0);
    Path file = directory.resolve("manifests").resolve(name);
    byte[] sound = Files.readAllBytes(file);
    Cases.each(1000, any -> {
      Files.write(file, damaged(sound, any));
      try {
        read(name);
      } catch (ArchiveException e) {
        assertThat(e).hasMessageContaining(directory.toString());
      }
    });
    Files.write(file, sound);
    read(name);
  }

  @Test
  void whatLooksLikeAnotherEncodingIsReported() throws Exception {
    try (ArchiveWriter writer = Archives.open(directory)) {
      writer.append(Archives.at(0), Archives.serials(new Incarnation(0, 1), 1, 2));
    }
    String name = ArchiveDirectory.manifestName(0, 0);
    Path file = directory.resolve("manifests").resolve(name);
    byte[] bytes = Files.readAllBytes(file);
    System.arraycopy(new byte[] {0, 0, '{', 0}, 0, bytes, 0, 4);
    Files.write(file, bytes);
    assertThatThrownBy(() -> read(name)).isInstanceOf(ArchiveException.class).hasMessageContaining("is damaged");
  }

  private static byte[] damaged(byte[] sound, Inputs any) {
    byte[] bytes = sound.clone();
    for (int left = any.between(1, 4); left > 0; left--) {
      int at = any.between(0, bytes.length - 1);
      bytes[at] = any.flag() ? (byte) any.between(0, 255) : (byte) CHARACTERS.charAt(
          any.between(0, CHARACTERS.length() - 1));
    }
    return any.between(0, 9) > 0 ? bytes : Arrays.copyOf(bytes, any.between(0, bytes.length));
  }

  private void read(String name) throws IOException {
    ArchiveDirectory archive = new ArchiveDirectory(directory);
    Manifests.read(archive).forEach(manifest -> manifest.files().forEach(entry ->
         assertThat(entry.name()).isNotEmpty()));
    Manifests.forEachRoute(archive, name, route -> {
      route.key();
      route.counter(io.lifeline.codec.Counter.EMITTED);
      route.missingBatches();
      route.forEachRun((first, last) -> {});
    });
  }
}
