package io.lifeline.jobs.archive.cli;

import io.lifeline.jobs.archive.parquet.Verifier;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Checks whether an archive's files are unchanged. */
@Command(
    name = "verify",
    mixinStandardHelpOptions = true,
    description = "Reads all files of a Parquet archive and compares them with their hashes.",
    footer = {
      "",
      "Prints a line per damaged file; the exit code is then 1, as for an archive that",
      "is empty, or has lost its manifests. Files of earlier",
      "programs have no hash; 'compact' gives them one, and leaves damaged files alone.",
      "",
      "Example: lifeline-jobs verify --archive archive"
    })
public final class VerifyCommand implements Callable<Integer> {

  @Option(names = "--archive", required = true, paramLabel = "DIR", description = "the archive's directory")
  private Path archive;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    try {
      Verifier.Result result = Verifier.verify(archive);
      result.damages().forEach(damage -> spec.commandLine().getErr().println(spec.root().name() + ": " + damage));
      spec.commandLine().getOut().printf(Locale.ROOT,
          "verify: manifests=%d files=%d bytes=%d unverified=%d damaged=%d%n",
          result.manifests(), result.files(), result.bytes(), result.unhashed(), result.damages().size());
      spec.commandLine().getOut().flush();
      return result.damages().isEmpty() ? 0 : 1;
    } catch (IOException e) {
      spec.commandLine().getErr().println(spec.root().name() + ": " + e.getMessage());
      return 1;
    }
  }
}
