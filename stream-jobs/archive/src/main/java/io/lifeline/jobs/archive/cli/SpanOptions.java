package io.lifeline.jobs.archive.cli;

import io.lifeline.jobs.archive.TimeSpan;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options that limit a command to a span of event time. */
final class SpanOptions {

  @Option(names = {"--from", "--since"}, paramLabel = "TIME", description = "only events at or after this time")
  private String from;

  @Option(names = {"--to", "--until"}, paramLabel = "TIME", description = "only events before this time")
  private String to;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /** Returns the nanosecond since 1970 of the earliest events; null for no limit. */
  Long sinceNs() {
    return time("--from", from);
  }

  /** Returns the nanosecond since 1970 after the latest events; null for no limit. */
  Long untilNs() {
    Long since = sinceNs();
    Long until = time("--to", to);
    if (since != null && until != null && since > until) {
      throw new ParameterException(command.commandLine(), "--from " + from + " is after --to " + to);
    }
    return until;
  }

  TimeSpan span() {
    return TimeSpan.of(sinceNs(), untilNs());
  }

  private Long time(String option, String text) {
    try {
      return text == null ? null : TimeOption.parse(text, System.currentTimeMillis() * 1_000_000L);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), option + " is a time such as 2026-11-21T05:19:00Z, seconds"
          + " since 1970, or an age such as 10m, not '" + text + "'", e);
    }
  }
}
