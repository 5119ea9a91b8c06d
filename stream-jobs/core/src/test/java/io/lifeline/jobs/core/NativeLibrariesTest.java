package io.lifeline.jobs.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class NativeLibrariesTest {

  @Test
  void theFileOfALoadedLibraryIsRemovedAndNoOther() throws Exception {
    Path loaded = unpack();
    Path other = unpack();
    try {
      System.load(loaded.toString());
      NativeLibraries.removeUnpacked();
      assertThat(loaded).doesNotExist();
      assertThat(other).as("of a process that has yet to load it").exists();
    } finally {
      Files.deleteIfExists(loaded);
      Files.delete(other);
    }
  }

  /** Any library of the JDK, under a name as zstd's is unpacked. */
  private static Path unpack() throws IOException {
    Path library = Files.createTempFile("libzstd-jni-", ".so").toRealPath();
    Files.write(library, Files.readAllBytes(Path.of(System.getProperty("java.home"), "lib", "libextnet.so")));
    return library;
  }

  @Test
  void aLibraryThatCannotBeLoadedIsExplained() {
    Throwable noexec = new IllegalStateException("state", new UnsatisfiedLinkError("x.so: failed to map segment"));
    assertThat(NativeLibraries.explain(noexec))
        .contains("(x.so: failed to map segment)", "noexec", "-Djava.io.tmpdir=DIR");
    assertThat(NativeLibraries.explain(new IllegalStateException("something else"))).isNull();
  }
}
