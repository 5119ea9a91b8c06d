package io.lifeline.jobs.cli.directory;

import io.lifeline.codec.Counter;
import io.lifeline.jobs.core.Glob;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.JsonWriter;
import io.lifeline.jobs.core.Terminal;
import io.lifeline.jobs.core.TextTable;
import io.lifeline.jobs.core.Timestamps;
import io.lifeline.jobs.core.directory.Answer;
import io.lifeline.jobs.core.directory.EmitterRow;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows who emits. */
@Command(
    name = "emitters",
    mixinStandardHelpOptions = true,
    description = {
      "Prints the emitters that have sent something to the broker, the one heard last first: since when, how much, what"
          + " they dropped and kept back, which activations they follow, and how far their clock is from the broker's.",
      "The clock is the least time from the emitter's to the broker's, in the last minutes: the transport and the"
          + " difference of the clocks; negative if the emitter's is ahead."
    },
    footer = {
      "",
      "Examples:",
      "  lifeline-jobs emitters --broker nats://127.0.0.1:4222",
      "  lifeline-jobs emitters --broker kafka://127.0.0.1:9092 --history 1d --all --json"
    })
public final class EmittersCommand implements Callable<Integer> {
  private static final List<String> NAMES = List.of("program", "host", "pid", "state", "since", "follows", "dropped");
  private static final List<String> NUMBERS =
      List.of("events/s", "emitted", "sampled_out", "below_threshold", "folded", "spooled", "clock_ms", "error_ns");

  @Mixin private final DirectoryOptions options = new DirectoryOptions();
  @Spec private CommandSpec spec;

  @Option(names = "--program", paramLabel = "GLOB", defaultValue = "*", description = "only these programs")
  private String program;

  @Option(names = "--host", paramLabel = "GLOB", defaultValue = "*", description = "only of these hosts")
  private String host;

  @Option(names = "--all", description = "also those that have ended")
  private boolean all;

  @Option(names = "--json", description = "print a JSON object per emitter and line")
  private boolean json;

  @Override
  public Integer call() throws HostException, InterruptedException {
    Glob programs = Glob.of(program);
    Glob hosts = Glob.of(host);
    List<EmitterRow> rows = options.read(options.settings()).rows().stream()
        .filter(row -> all || !row.ended())
        .filter(row -> programs.matches(row.program()) && hosts.matches(row.host())).toList();
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      rows.forEach(row -> out.println(json(row)));
    } else {
      print(rows, out);
    }
    out.flush();
    return 0;
  }

  private static void print(List<EmitterRow> rows, PrintWriter out) {
    List<List<String>> lines = new ArrayList<>();
    List<String> titles = new ArrayList<>(NAMES);
    titles.addAll(NUMBERS);
    lines.add(titles);
    for (EmitterRow row : rows) {
      lines.add(List.of(Terminal.printable(row.program()), Terminal.printable(row.host()), Long.toString(row.pid()),
          state(row), Timestamps.iso(row.firstMs() * 1_000_000).substring(0, 19) + "Z", follows(row), drops(row),
          String.format(Locale.ROOT, "%.1f", row.eventsPerSecond()), count(row, Counter.EMITTED),
          count(row, Counter.SAMPLED_OUT), count(row, Counter.BELOW_THRESHOLD), count(row, Counter.FOLDED),
          count(row, Counter.SPOOLED), row.clockMs() == null ? "-" : row.clockMs().toString(),
          row.clockErrorNs() + (row.clockUncertain() ? " uncertain" : "")));
    }
    TextTable.print(lines, NAMES.size(), out);
    out.println("emitters: " + rows.size());
  }

  private static String state(EmitterRow row) {
    return row.recovered() ? "recovered" : row.ended() ? "ended" : "running";
  }

  private static String follows(EmitterRow row) {
    String ids = row.answers().entrySet().stream().filter(answer -> answer.getValue().state() == Answer.State.IN_FORCE)
        .map(answer -> Terminal.printable(answer.getKey())).sorted().collect(Collectors.joining(","));
    return ids.isEmpty() ? "-" : ids;
  }

  private static String drops(EmitterRow row) {
    String drops = row.drops().entrySet().stream().map(drop -> drop.getKey() + "="
        + Long.toUnsignedString(drop.getValue())).collect(Collectors.joining(","));
    return drops.isEmpty() ? "0" : drops;
  }

  private static String count(EmitterRow row, Counter counter) {
    return Long.toUnsignedString(row.counters().get(counter));
  }

  private static String json(EmitterRow row) {
    JsonWriter json = new JsonWriter().beginObject()
        .field("incarnation", row.incarnation().toString())
        .field("program", row.program())
        .field("host", row.host())
        .field("pid", row.pid())
        .field("state", state(row))
        .field("first_ms", row.firstMs())
        .field("last_ms", row.lastMs())
        .field("events_per_second", row.eventsPerSecond());
    for (Counter counter : Counter.values()) {
      json.name(counter.label()).valueUnsigned(row.counters().get(counter));
    }
    json.field("clock_error_ns", row.clockErrorNs()).field("clock_uncertain", row.clockUncertain());
    if (row.clockMs() != null) {
      json.field("clock_ms", row.clockMs());
    }
    json.name("follows").beginObject();
    for (Map.Entry<String, Answer> answer : row.answers().entrySet()) {
      if (answer.getValue().state() == Answer.State.IN_FORCE) {
        json.field(answer.getKey(), String.valueOf(answer.getValue().line()));
      }
    }
    return new String(json.endObject().endObject().toBytes(), StandardCharsets.UTF_8);
  }
}
