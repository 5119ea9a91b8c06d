package io.lifeline.jobs.live;

import io.lifeline.jobs.core.config.JobConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Lifeline's programs written in C. They are run from their own folder only: others may write to those of PATH. */
public final class Programs {
  /** The system property with the folder; the scripts that start Java set it. */
  public static final String PROPERTY = "lifeline.programs";

  private final Path folder;

  private Programs(Path folder) {
    this.folder = folder;
  }

  public static Programs in(Path folder) {
    return new Programs(folder);
  }

  /** Those of this installation. */
  public static Programs installed() {
    String folder = System.getProperty(PROPERTY);
    return new Programs(folder == null ? null : Path.of(folder));
  }

  /**
   * Returns what starts a program, which uses this broker and no other settings of this process.
   *
   * @throws IOException if there is no such program
   */
  ProcessBuilder command(String name, List<String> arguments, JobConfig broker) throws IOException {
    if (folder == null) {
      throw new IOException("it is not known where it is; start with scripts/lifeline-console or lifeline-jobs");
    }
    Path program = folder.resolve(name);
    if (!Files.isExecutable(program)) {
      throw new IOException("it is not in " + folder + "; install it there");
    }
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().keySet().removeIf(variable -> variable.startsWith("LIFELINE"));
    builder.environment().putAll(broker.emitterEnvironment()); // not as arguments, which others can see
    return builder;
  }
}
