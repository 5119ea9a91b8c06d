package io.lifeline.ksql;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads the numbered scripts beside this module. */
final class Migrations {

  static final Path DIRECTORY = Path.of("..", "migrations");

  private Migrations() {}

  static List<Path> files() {
    try (Stream<Path> files = Files.list(DIRECTORY)) {
      return files.sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the shipped server settings, as environment variables of its container. */
  static Map<String, String> serverVariables() {
    Properties settings = new Properties();
    try (Reader file = Files.newBufferedReader(Path.of("..", "ksql-server.properties"))) {
      settings.load(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return settings.stringPropertyNames().stream().collect(Collectors.toMap(
        name -> "KSQL_" + name.toUpperCase(Locale.ROOT).replace('.', '_'), settings::getProperty));
  }

  /** Returns all scripts in order. */
  static String text() {
    return String.join("\n", files().stream().map(Migrations::text).toList());
  }
}
