package io.lifeline.jobs.archive.cli;

import io.lifeline.jobs.core.Terminal;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Lets jobs write an archive again whose broker lost messages. */
@Command(
    name = "resume",
    mixinStandardHelpOptions = true,
    description = "Lets jobs write partitions again that they refuse to write.",
    footer = {
      "",
      "If a broker has lost its last messages, after a power failure or a restore from",
      "a backup, it stores new ones at offsets that the archive has read already. The",
      "jobs then stop writing that partition. Restore the broker's data and run this",
      "command, or give the jobs a new archive, which then gets all messages that the",
      "broker has. With --accept-loss the jobs continue in this archive at the old",
      "offset: messages that the broker stores before it are not archived.",
      "",
      "Prints a line per partition. Start the jobs after this command, if they ended.",
      "",
      "Example: lifeline-jobs resume --archive archive"
    })
public final class ResumeCommand implements Callable<Integer> {

  @Mixin
  private final ArchiveOptions archive = new ArchiveOptions();

  @Option(names = "--accept-loss", description = "continue at the old offset without comparing the last message")
  private boolean acceptingLoss;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    List<String> resumed = archive.archive().resume(acceptingLoss);
    resumed.forEach(partition -> spec.commandLine().getOut().println("resume: " + Terminal.printable(partition)));
    spec.commandLine().getOut().println("resume: partitions=" + resumed.size());
    return 0;
  }
}
