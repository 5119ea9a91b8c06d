package io.lifeline.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs the project's scripts for private servers. */
final class Scripts {
  private Scripts() {}

  /** Runs the script to its end; what it says is in the exception if it fails. */
  static void run(String script, Path directory, List<String> arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(root(script).resolve(script).toString()));
    command.addAll(arguments);
    command.addAll(List.of("--dir", directory.toString()));
    Path log = directory.resolveSibling(directory.getFileName() + ".output");
    Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      if (process.waitFor() != 0) {
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
