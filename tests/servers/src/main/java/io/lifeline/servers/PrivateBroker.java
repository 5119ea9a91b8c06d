package io.lifeline.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;

/** A real broker of this test's own, through scripts/broker. */
public abstract class PrivateBroker implements AutoCloseable {
  final Path directory;
  private final String kind;
  private final List<String> options;
  private final Properties environment = new Properties();
  private boolean running;

  /** @param options of {@code scripts/broker start} */
  PrivateBroker(String kind, Path directory, String... options) {
    this.kind = kind;
    this.directory = directory;
    this.options = List.of(options);
  }

  /** Starts it, again with the same port and data after a kill. */
  public final void start() throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(List.of("start", kind, "--owner", Long.toString(ProcessHandle.current().pid())));
    command.addAll(options);
    broker(command);
    try (var reader = Files.newBufferedReader(directory.resolve("broker.env"))) {
      environment.load(reader);
    }
    running = true;
  }

  final boolean isRunning() {
    return running;
  }

  /** As a crash would. */
  public final void kill() throws IOException, InterruptedException {
    running = false;
    broker(List.of("kill"));
  }

  /** Copies a folder of the data of a killed broker. */
  public final void saveData(String folder, Path backup) throws IOException {
    copy(directory.resolve("data").resolve(folder), backup);
  }

  /** Replaces a folder of the data of a killed broker: as after a power failure, what it stored since is lost. */
  public final void restoreData(String folder, Path backup) throws IOException {
    Path data = directory.resolve("data").resolve(folder);
    try (Stream<Path> files = Files.walk(data)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
    copy(backup, data);
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(from.relativize(file)), StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
  }

  /** Leaves it running and mute: connections stand, and nothing is answered until {@link #resume}. */
  public final void pause() throws IOException, InterruptedException {
    broker(List.of("pause"));
  }

  public final void resume() throws IOException, InterruptedException {
    broker(List.of("resume"));
  }

  public final String url() {
    return environment.getProperty("LIFELINE_URL");
  }

  public final String environment(String name) {
    return environment.getProperty(name);
  }

  @Override
  public final void close() throws IOException, InterruptedException {
    broker(List.of("stop"));
  }

  /** Ends it and deletes its data. */
  final void remove() {
    try (Stream<Path> files = Files.walk(directory)) {
      close();
      files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    } catch (IOException | InterruptedException e) {
      // The script ends the server once this process has gone.
    }
  }

  private void broker(List<String> arguments) throws IOException, InterruptedException {
    Scripts.run("scripts/broker", directory, arguments);
  }
}
