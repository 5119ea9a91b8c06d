package io.lifeline.codec;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Reads the golden batches beside this module. */
final class Vectors {
  private static final Path DIRECTORY = Path.of("..", "vectors");

  private Vectors() {}

  static List<Path> valid() {
    return batches("valid");
  }

  static List<Path> invalid() {
    return batches("invalid");
  }

  static byte[] bytes(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Path> batches(String folder) {
    try (Stream<Path> files = Files.list(DIRECTORY.resolve(folder))) {
      return files.filter(file -> file.toString().endsWith(".llb")).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
