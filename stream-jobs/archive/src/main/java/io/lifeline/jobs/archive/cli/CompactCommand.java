package io.lifeline.jobs.archive.cli;

import io.lifeline.jobs.archive.parquet.Compactor;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Merges an archive's small files. */
@Command(
    name = "compact",
    mixinStandardHelpOptions = true,
    description = "Merges all small files of the archive, while jobs write and queries read.",
    footer = {
      "",
      "Writers merge files in the background by themselves (archive.compact); this",
      "merges as many as possible at once. It fails while a writer does so.",
      "",
      "Replaced files are kept for the grace period, for running queries;",
      "a later run deletes them. It may be killed at any moment. What is damaged is",
      "left alone, each a line, and then the exit code is 1.",
      "",
      "Example: lifeline-jobs compact --archive archive"
    })
public final class CompactCommand implements Callable<Integer> {

  private static final long MAX_TARGET_MIB = 1 << 20;

  @Option(names = "--archive", required = true, paramLabel = "DIR", description = "the archive's directory")
  private Path archive;

  @Option(names = "--target-mib", paramLabel = "N", defaultValue = "256",
      description = "merge files up to this size (default ${DEFAULT-VALUE} MiB)")
  private long targetMib;

  @Option(names = "--grace-seconds", paramLabel = "N", defaultValue = "600",
      description = "keep replaced files this long (default ${DEFAULT-VALUE})")
  private long graceSeconds;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    if (targetMib < 1 || targetMib > MAX_TARGET_MIB || graceSeconds < 0) {
      throw new ParameterException(spec.commandLine(),
          "--target-mib is from 1 to " + MAX_TARGET_MIB + ", --grace-seconds not below 0");
    }
    try {
      Compactor compactor =
          new Compactor(ParquetOptions.in(archive), targetMib << 20, Duration.ofSeconds(graceSeconds));
      Compactor.Result result = compactor.compact();
      result.damages().forEach(damage -> spec.commandLine().getErr().println(spec.root().name() + ": " + damage));
      spec.commandLine().getOut().printf(Locale.ROOT, "compact: manifests=%d->%d files=%d->%d deleted=%d%n",
          result.manifestsBefore(), result.manifestsAfter(), result.filesBefore(), result.filesAfter(),
          result.filesDeleted());
      spec.commandLine().getOut().flush();
      return result.damages().isEmpty() ? 0 : 1;
    } catch (IOException e) {
      spec.commandLine().getErr().println(spec.root().name() + ": " + e.getMessage());
      return 1;
    }
  }
}
