package io.lifeline.jobs.live;

import io.lifeline.jobs.core.NativeLibraries;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionStrategy;
import picocli.CommandLine.ParseResult;

/**
 * Runs a command, which fails if its output could not be written: writers of text do not throw, so a full disk would
 * look like an empty result. A native library that cannot be loaded is an error of one line.
 */
public final class CheckedOutput implements IExecutionStrategy {
  private final CommandLine.RunLast command = new CommandLine.RunLast();

  @Override
  public int execute(ParseResult parsed) {
    ParseResult last = parsed;
    while (last.hasSubcommand()) {
      last = last.subcommand();
    }
    CommandLine line = last.commandSpec().commandLine();
    PrintWriter out = line.getOut();
    int status;
    try {
      status = command.execute(parsed);
    } catch (LinkageError e) {
      String explanation = NativeLibraries.explain(e);
      if (explanation == null) {
        throw e;
      }
      line.getErr().println(last.commandSpec().root().name() + ": " + explanation);
      return 1;
    }
    boolean isLost = out.checkError() | System.out.checkError(); // the writer onto System.out does not see its errors
    if (!isLost || status != 0) {
      return status;
    }
    line.getErr().println(last.commandSpec().root().name() + ": cannot write the output: the disk is full, or the"
        + " reader has closed the pipe");
    return 1;
  }
}
