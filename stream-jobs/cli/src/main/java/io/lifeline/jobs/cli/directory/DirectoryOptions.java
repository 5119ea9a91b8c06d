package io.lifeline.jobs.cli.directory;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.jobs.archive.cli.TimeOption;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.directory.Directory;
import io.lifeline.jobs.core.live.LiveMessages;
import io.lifeline.jobs.core.live.LiveStart;
import io.lifeline.jobs.live.BrokerOptions;
import io.lifeline.jobs.live.Hosts;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Where the directory comes from: what a broker has stored in the last while. */
final class DirectoryOptions {
  private static final Duration WAIT = Duration.ofMillis(500);
  /** For a broker that sends nothing although it has more: longer than a busy one takes. */
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(30);
  private static final long NS_PER_MS = 1_000_000;

  @Mixin private final BrokerOptions broker = new BrokerOptions();

  @Option(names = "--history", paramLabel = "TIME", defaultValue = "1h",
      description = "how far back to read: 30s, 10m, 1h (default: ${DEFAULT-VALUE}). Emitters that sent nothing since"
          + " are not known")
  private String history;

  @Spec(Spec.Target.MIXEE) private CommandSpec command;

  JobConfig settings() {
    return broker.load();
  }

  /** Reads what the broker has stored until now. */
  Directory read(JobConfig settings) throws HostException, InterruptedException {
    Directory directory = new Directory();
    BatchReader reader = new BatchReader();
    long endMs = System.currentTimeMillis();
    try (LiveMessages messages = Hosts.messages(settings, new LiveStart(startMs(endMs)))) {
      long lastNs = System.nanoTime();
      while (true) {
        LiveMessages.Message message = messages.next(WAIT);
        if (message != null) {
          lastNs = System.nanoTime();
          add(directory, reader, message);
        }
        if (messages.isCaughtUp()) {
          return directory;
        }
        if (System.nanoTime() - lastNs > PATIENCE_NS) {
          throw new HostException(messages.trouble() != null ? messages.trouble()
              : "the broker has more batches, but has sent none for "
                  + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NS) + " s");
        }
      }
    }
  }

  private static void add(Directory directory, BatchReader reader, LiveMessages.Message message) {
    try {
      reader.read(message.data(), 0, message.data().length);
      directory.add(reader, message.brokerTimeMs(), message.data().length);
    } catch (RejectedBatchException e) {
      // the jobs report it with all details
    }
  }

  private long startMs(long endMs) {
    if (history.matches("[0-9.]+[smhd]")) {
      try {
        return TimeOption.parse(history, endMs * NS_PER_MS) / NS_PER_MS;
      } catch (IllegalArgumentException e) {
        // the same message
      }
    }
    throw new ParameterException(command.commandLine(), "--history is an age such as 90s, 10m, 2h or 1d, not "
        + history);
  }
}
