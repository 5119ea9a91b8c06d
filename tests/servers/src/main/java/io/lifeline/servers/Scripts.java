package io.lifeline.servers;

import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs the project's scripts for private servers. */
final class Scripts {
  private static final int NOT_INSTALLED = 77;

  private Scripts() {}

  /** Runs the script to its end; what it says is in the exception if it fails. A test is skipped without its server. */
  static void run(String script, Path directory, List<String> arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(root(script).resolve(script).toString()));
    command.addAll(arguments);
    command.addAll(List.of("--dir", directory.toString()));
    Path log = directory.resolveSibling(directory.getFileName() + ".output");
    Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      int status = process.waitFor();
      assumeFalse(status == NOT_INSTALLED, () -> String.join(" ", command) + ": the server is not installed");
      if (status != 0) {
        throw new IOException(String.join(" ", command) + " failed: " + Files.readString(log));
      }
    } finally {
      Files.deleteIfExists(log);
    }
  }

  private static Path root(String script) {
    Path path = Path.of("").toAbsolutePath();
    while (!Files.exists(path.resolve(script))) {
      path = path.getParent();
    }
    return path;
  }
}
