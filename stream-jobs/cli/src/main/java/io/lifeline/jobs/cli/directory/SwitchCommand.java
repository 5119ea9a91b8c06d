package io.lifeline.jobs.cli.directory;

import io.lifeline.jobs.core.DurationText;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.Terminal;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.live.Activation;
import io.lifeline.jobs.live.ActivationException;
import io.lifeline.jobs.live.Activations;
import io.lifeline.jobs.live.Cost;
import io.lifeline.jobs.live.Programs;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Sets an activation once it is known what that brings. */
@Command(
    name = "switch",
    mixinStandardHelpOptions = true,
    description = {
      "Sets an activation, as 'lifeline-activate set' does, after printing how many events it would bring, from the"
          + " rates of the last minute. Above 10,000 events/s, and when nothing is known, it asks first; without a"
          + " terminal it needs --yes.",
      "LINE selects events and sets their resolution: schemas/ACTIVATION.md."
    },
    footer = {
      "",
      "Exit status: 0 if it is set; 1 if it was not confirmed, or it failed; 2 for a wrong command line.",
      "",
      "Example:",
      "  lifeline-jobs switch --broker nats://127.0.0.1:4222 --for 5m 'disk.* full program=remote-copy'"
    })
public final class SwitchCommand implements Callable<Integer> {
  private static final int NOT_CONFIRMED = 1;

  @Mixin private final DirectoryOptions options = new DirectoryOptions();
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "LINE", arity = "1..*", description = "the activation, in one word or several")
  private List<String> words;

  @Option(names = "--for", paramLabel = "TIME", description = "how long: 90s, 10m, 2h (default: as in LINE, or 10m)")
  private String time;

  @Option(names = "--id", paramLabel = "ID", description = "its id; replaces the activation with this id")
  private String id;

  @Option(names = "--yes", description = "do not ask")
  private boolean yes;

  @Override
  public Integer call() throws ActivationException, HostException, InterruptedException {
    JobConfig settings = options.settings();
    Activations activations = new Activations(settings, Programs.installed());
    String line = String.join(" ", words);
    Duration lasts = lasts();
    Activation wanted;
    try {
      wanted = activations.check(id, line, lasts);
    } catch (ActivationException e) {
      if (e.isIllegal()) {
        throw new ParameterException(spec.commandLine(), e.getMessage());
      }
      throw e;
    }
    PrintWriter out = spec.commandLine().getOut();
    Cost cost = Cost.of(wanted, options.read(settings));
    out.println(Terminal.printable(cost.text()));
    out.flush();
    if (cost.confirm() && !yes && !isConfirmed()) {
      return NOT_CONFIRMED;
    }
    Activation set = activations.set(id, line, lasts);
    out.println(Terminal.printable(set.id() + "  " + set.line()));
    out.flush();
    return 0;
  }

  private boolean isConfirmed() {
    if (!Terminal.isTerminal(0) || System.console() == null) {
      spec.commandLine().getErr().println("lifeline-jobs switch: not set: confirm it with --yes");
      return false;
    }
    String answer = System.console().readLine("Switch on? [y/N] ");
    return answer != null && answer.strip().toLowerCase(Locale.ROOT).matches("y|yes");
  }

  private Duration lasts() {
    if (time == null) {
      return null;
    }
    if (!time.matches("[1-9][0-9]{0,8}[smhd]")) {
      throw new ParameterException(spec.commandLine(), "--for is a time such as 90s, 10m, 2h or 1d, not " + time);
    }
    return DurationText.parse(time);
  }
}
