package io.lifeline.jobs.core.signing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.jobs.core.config.ConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SignaturesTest {

  private static final Path VECTORS = Path.of("..", "..", "schemas", "vectors");
  private static final String OTHER_KEY = "00".repeat(32);

  @TempDir Path directory;

  @Test
  void areThoseOfTheVectors() throws IOException {
    List<String> lines = Files.readAllLines(VECTORS.resolve("signatures.txt"));
    assertThat(lines).hasSizeGreaterThan(50);
    for (String line : lines) {
      String[] words = line.split(" ");
      byte[] batch = Files.readAllBytes(VECTORS.resolve(words[1]));
      Signatures signatures = Signatures.of(List.of(key("other", OTHER_KEY), key("key", words[0])));
      assertThat(signatures.allow(batch, words[2])).as(line).isTrue();
      assertThat(Signatures.of(List.of(key("other", OTHER_KEY))).allow(batch, words[2])).as(line).isFalse();
      batch[batch.length - 1] ^= 1;
      assertThat(signatures.allow(batch, words[2])).as(line).isFalse();
    }
  }

  @Test
  void areAskedForOnlyWhereThereAreKeys() throws IOException {
    assertThat(Signatures.of(List.of()).allow(new byte[9], null)).isTrue();
    Signatures signatures = Signatures.of(List.of(key("key", OTHER_KEY)));
    assertThat(signatures.allow(new byte[9], null)).isFalse();
    assertThat(signatures.allow(new byte[9], "")).isFalse();
    assertThat(signatures.allow(new byte[9], "not hex")).isFalse();
  }

  @Test
  void needKeysOf64DigitsThatOthersMayNotRead() throws IOException {
    assertRefused(directory.resolve("missing"), "cannot be read");
    assertRefused(key("short", "abcd"), "is not 64 hex digits");
    assertRefused(key("long", OTHER_KEY + "0"), "is not 64 hex digits");
    assertRefused(key("umlaut", "\u00e4".repeat(32)), "is not 64 hex digits");
    Path open = key("open", OTHER_KEY);
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw----r--"));
    assertRefused(open, "chmod 600");
  }

  private static void assertRefused(Path key, String why) {
    assertThatThrownBy(() -> Signatures.of(List.of(key)))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(key.toString())
        .hasMessageContaining(why)
        .hasMessageNotContaining("abcd")
        .hasMessageNotContaining(OTHER_KEY);
  }

  private Path key(String name, String digits) throws IOException {
    Path file = directory.resolve(name);
    Files.writeString(file, digits + "\n");
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
  }
}
