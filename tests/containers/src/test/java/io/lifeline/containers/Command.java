package io.lifeline.containers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Commands of this machine, run to their end. */
final class Command {

  private Command() {}

  static String run(List<String> command) {
    return run(command, Map.of());
  }

  /**
   * Returns what the command prints.
   *
   * @throws AssertionError when it fails, with all that it said
   */
  static String run(List<String> command, Map<String, String> environment) {
    return finish(start(command, environment), command);
  }

  static Process start(List<String> command, Map<String, String> environment) {
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(environment);
    try {
      return builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String finish(Process process, List<String> command) {
    try {
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      int code = process.waitFor();
      if (code != 0) {
        throw new AssertionError(String.join(" ", command) + " exited with " + code + "\n" + output);
      }
      return output;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for " + command.get(0), e);
    }
  }
}
