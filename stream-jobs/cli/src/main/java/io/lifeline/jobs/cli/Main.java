package io.lifeline.jobs.cli;

import io.lifeline.jobs.archive.cli.CompactCommand;
import io.lifeline.jobs.archive.cli.ExportCommand;
import io.lifeline.jobs.archive.cli.FilesCommand;
import io.lifeline.jobs.archive.cli.ImportCommand;
import io.lifeline.jobs.archive.cli.ReportCommand;
import io.lifeline.jobs.archive.cli.ResumeCommand;
import io.lifeline.jobs.archive.cli.SqlCommand;
import io.lifeline.jobs.archive.cli.VerifyCommand;
import io.lifeline.jobs.cli.directory.ActivationsCommand;
import io.lifeline.jobs.cli.directory.EmittersCommand;
import io.lifeline.jobs.cli.directory.SwitchCommand;
import io.lifeline.jobs.cli.tail.TailCommand;
import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.live.CheckedOutput;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command {@code lifeline-jobs}. */
@Command(
    name = "lifeline-jobs",
    description = "Turns batches of events into summaries, tables and an archive, and accounts for every event.",
    mixinStandardHelpOptions = true,
    version = "lifeline-jobs 0.1.0",
    subcommands = {
      RunCommand.class,
      LedgerCommand.class,
      AlertsCommand.class,
      TailCommand.class,
      EmittersCommand.class,
      ActivationsCommand.class,
      SwitchCommand.class,
      SqlCommand.class,
      ReportCommand.class,
      ExportCommand.class,
      ImportCommand.class,
      CompactCommand.class,
      VerifyCommand.class,
      FilesCommand.class,
      ResumeCommand.class,
      ConfigCommand.class,
      CommandLine.HelpCommand.class
    })
public final class Main {

  private static final int EXIT_FAILURE = 1;
  private static final int EXIT_USAGE = 2;

  private Main() {}

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return new CommandLine(new Main())
        .setExecutionStrategy(new CheckedOutput())
        .setParameterExceptionHandler((exception, arguments) -> explain(exception))
        .setExecutionExceptionHandler(
            (exception, command, parsed) -> {
              command.getErr().println("lifeline-jobs: " + exception.getMessage());
              return exception instanceof ConfigException ? EXIT_USAGE : EXIT_FAILURE;
            });
  }

  /** Prints one sentence: the whole help would push it off the screen. */
  private static int explain(ParameterException exception) {
    CommandLine command = exception.getCommandLine();
    List<String> unknown = command.getUnmatchedArguments();
    if (exception instanceof MissingParameterException && !unknown.isEmpty()) {
      exception = new UnmatchedArgumentException(command, unknown); // --archve, and so --archive is missing
    }
    boolean unknownOption = exception instanceof UnmatchedArgumentException unmatched && unmatched.isUnknownOption();
    String what = command.getSubcommands().isEmpty() || unknownOption
        ? exception.getMessage()
        : "which command? " + String.join(", ", command.getSubcommands().keySet());
    command.getErr().println(command.getCommandSpec().qualifiedName() + ": " + what + " (try --help)");
    return EXIT_USAGE;
  }
}
