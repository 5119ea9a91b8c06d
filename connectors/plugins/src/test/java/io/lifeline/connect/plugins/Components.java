package io.lifeline.connect.plugins;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/** The zips that the build made of each plugin, which it packs before it tests this module. */
final class Components {

  private static final String NAME = "lifeline-kafka-connect-.*\\.zip";

  private Components() {}

  static List<Path> zips() throws IOException {
    try (Stream<Path> modules = Files.list(Path.of(".."))) {
      return modules
          .map(module -> module.resolve("target"))
          .filter(Files::isDirectory)
          .flatMap(Components::zips)
          .sorted()
          .toList();
    }
  }

  private static Stream<Path> zips(Path target) {
    try (Stream<Path> files = Files.list(target)) {
      return files.filter(file -> file.getFileName().toString().matches(NAME)).toList().stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Unpacks a zip into a folder, as a user does. */
  static void unpack(Path zip, Path folder) throws IOException {
    try (ZipInputStream in = new ZipInputStream(Files.newInputStream(zip))) {
      for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
        Path file = folder.resolve(entry.getName());
        if (entry.isDirectory()) {
          Files.createDirectories(file);
        } else {
          Files.createDirectories(file.getParent());
          Files.copy(in, file);
        }
      }
    }
  }
}
