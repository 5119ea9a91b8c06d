package io.lifeline.jobs.cli.tail;

import io.lifeline.jobs.archive.cli.TimeOption;
import io.lifeline.jobs.archive.export.JsonLines;
import io.lifeline.jobs.core.Glob;
import io.lifeline.jobs.core.Terminal;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.filter.Condition;
import io.lifeline.jobs.core.live.LiveMessages;
import io.lifeline.jobs.core.live.LiveStart;
import io.lifeline.jobs.live.BrokerOptions;
import io.lifeline.jobs.live.Hosts;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Prints events as they arrive at the broker. */
@Command(
    name = "tail",
    mixinStandardHelpOptions = true,
    description = {
      "Prints events as they arrive at the broker, until Ctrl-C: time, type, level, host, program, pid, then the"
          + " event's constants and fields. The events of a batch are in order of time.",
      "A terminal that does not keep up gets fewer events: a line on standard error counts those skipped. A file or a"
          + " pipe gets all events. Standard error also reports a broker that does not answer, missing batches and"
          + " events that emitters dropped; its last line has the counts."
    },
    footer = {
      "",
      "Times: 2026-11-21T05:19:00Z (UTC, or another offset such as +01:00), seconds since",
      "1970, or an age such as 90s, 10m, 2h or 1d.",
      "",
      "Exit status: 0, also after Ctrl-C; 1 if the output failed, 2 for a wrong command line.",
      "",
      "Examples:",
      "  lifeline-jobs tail --broker nats://127.0.0.1:4222 --type 'disk.*'",
      "  lifeline-jobs tail --broker kafka://127.0.0.1:9092 --history 10m \\",
      "      --where 'level == \"error\" || nbytes > 1000000'",
      "  lifeline-jobs tail --config jobs.properties --json --count 1000 > events.json"
    })
public final class TailCommand implements Callable<Integer> {
  private static final long NS_PER_MS = 1_000_000;
  /** How long a slow output is waited for when the command is asked to end. */
  private static final long END_MS = TimeUnit.SECONDS.toMillis(5);

  @Mixin private final BrokerOptions broker = new BrokerOptions();

  @Option(names = "--history", paramLabel = "TIME",
      description = "first print what the broker stored during the last TIME, such as 10m")
  private String history;

  @Option(names = {"--from", "--since"}, paramLabel = "TIME",
      description = "first print what the broker stored at this time or later")
  private String from;

  @Option(names = {"-t", "--type"}, paramLabel = "GLOB",
      description = "only events of these types; * matches any text; may be given several times")
  private List<String> types = new ArrayList<>();

  @Option(names = "--program", paramLabel = "GLOB", description = "only events of these programs")
  private String program;

  @Option(names = "--host", paramLabel = "GLOB", description = "only events of these hosts")
  private String host;

  @Option(names = "--where", paramLabel = "CEL",
      description = "only events that meet this condition, as the job filter takes it")
  private String where;

  @Option(names = "--json", description = "Print a JSON object per line, as lifeline-cat and the job decode write it.")
  private boolean json;

  @Option(names = "--count", paramLabel = "N", description = "end after this number of events")
  private Long count;

  @Spec private CommandSpec spec;

  private final OutputStream standardOutput = new FileOutputStream(FileDescriptor.out);

  @Override
  public Integer call() {
    Selection selection =
        new Selection(types.stream().map(Glob::of).toList(), glob(program), glob(host), condition());
    if (count != null && count < 1) {
      throw wrong("--count is at least 1");
    }
    LiveStart start = start();
    JobConfig settings = broker.load();
    boolean isTerminal = Terminal.isTerminal(1);
    Printer printer = new Printer(standardOutput, spec.commandLine().getErr(), isTerminal);
    LineText format = json ? new JsonLines()::append : new ColumnText(ZoneId.systemDefault(), hasColour(isTerminal));
    CountDownLatch ended = new CountDownLatch(1);
    Thread reading = Thread.currentThread();
    Thread hook = new Thread(() -> endOnSignal(reading, ended), "lifeline-end");
    Runtime.getRuntime().addShutdownHook(hook);
    printer.start();
    try (LiveMessages messages = Hosts.messages(settings, start)) {
      return run(new Tail(messages, format, selection, printer, count == null ? Long.MAX_VALUE : count), printer);
    } finally {
      ended.countDown();
    }
  }

  private int run(Tail tail, Printer printer) {
    PrintWriter err = spec.commandLine().getErr();
    boolean isWritten = false;
    IOException failure = null;
    try {
      tail.run();
      isWritten = printer.end(Long.MAX_VALUE);
    } catch (InterruptedException e) {
      isWritten = endsInTime(printer);
    } catch (IOException e) {
      failure = e;
    }
    failure = failure == null ? printer.failure() : failure;
    boolean hasFailed = failure != null && !"Broken pipe".equals(failure.getMessage()); // `head` has what it wants
    if (hasFailed || failure == null && !isWritten) {
      err.println("lifeline-jobs: cannot write to standard output: "
          + (hasFailed ? failure.getMessage() : "it did not take the last lines in time"));
    }
    err.println(tail.summary());
    err.flush();
    return hasFailed ? 1 : 0;
  }

  private static boolean endsInTime(Printer printer) {
    try {
      return printer.end(END_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Runs when the process is asked to stop, and also when it ends by itself; then the latch is open already. */
  private static void endOnSignal(Thread reading, CountDownLatch ended) {
    if (ended.getCount() == 0) {
      return;
    }
    reading.interrupt();
    try {
      ended.await(3 * END_MS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(0); // or the status would be that of a signal
  }

  private LiveStart start() {
    if (history != null && from != null) {
      throw wrong("--history and --from exclude each other");
    }
    if (history != null && !history.matches("[0-9.]+[smhd]")) {
      throw wrong("--history is an age such as 90s, 10m, 2h or 1d, not " + history);
    }
    String text = history != null ? history : from;
    if (text == null) {
      return LiveStart.NOW;
    }
    Instant now = Instant.now();
    try {
      return new LiveStart(Math.floorDiv(TimeOption.parse(text, now.toEpochMilli() * NS_PER_MS), NS_PER_MS));
    } catch (IllegalArgumentException e) {
      throw wrong((history != null ? "--history" : "--from")
          + " is a time such as 2026-11-21T05:19:00Z, seconds since 1970, or an age such as 10m, not " + text);
    }
  }

  private Condition condition() {
    try {
      return where == null ? null : Condition.parse(where);
    } catch (IllegalArgumentException e) {
      throw wrong("--where: " + e.getMessage());
    }
  }

  private static boolean hasColour(boolean isTerminal) {
    String none = System.getenv("NO_COLOR");
    String terminal = System.getenv().getOrDefault("TERM", "dumb");
    return isTerminal && (none == null || none.isEmpty()) && !terminal.equals("dumb");
  }

  private static Glob glob(String text) {
    return text == null ? null : Glob.of(text);
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
