package io.lifeline.jobs.archive.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.report.Bottleneck;
import io.lifeline.jobs.archive.report.LedgerLine;
import io.lifeline.jobs.archive.report.Report;
import io.lifeline.jobs.archive.report.Stage;
import io.lifeline.jobs.archive.report.StageRow;
import io.lifeline.jobs.core.Terminal;
import io.lifeline.jobs.core.TextTable;
import io.lifeline.jobs.core.bottleneck.Answer;
import io.lifeline.jobs.core.bottleneck.BottleneckSettings;
import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.JobConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Reports on the programs in an archive. */
@Command(
    name = "report",
    mixinStandardHelpOptions = true,
    description = "Reports which stage of a copy was the bottleneck, and whether all events are accounted for.",
    footer = {
      "",
      "The table has a line per pair of events X.start, X.end with a field id. MB/s",
      "is measured while the operation runs; busy is the part of the run in which",
      "one ran, waiting in the kernel included. at work is the part of the time for",
      "which the operation's stage did work of its own, waiting for its neighbours",
      "excluded.",
      "",
      "The bottleneck is what the job bottleneck would have answered to these events,",
      "by its own rule: the component whose threads are busiest, for each session, or",
      "program without one. use is the part of their time that its threads work. --set",
      "changes the job's settings bottleneck.*, as for run. A run of less than ten",
      "intervals that gives too few samples is cut into 20 instead.",
      "",
      "With --session, --program, --from or --to (a Parquet archive), stages and",
      "bottleneck are those of these events; the ledger is always that of the whole",
      "archive, with expired events.",
      "",
      "Exit status: 0, or 1 if the archive cannot be read.",
      "",
      "Examples:",
      "  lifeline-jobs report --archive archive --svg lifelines.svg",
      "  lifeline-jobs report --archive postgresql://me@db.example/events \\",
      "      --password-file secret --json",
      "  lifeline-jobs report --archive archive --program 'copy*' \\",
      "      --set bottleneck.components=parse=app.parse,store=app.store"
    })
public final class ReportCommand implements Callable<Integer> {

  @Mixin
  private final ArchiveOptions archive = new ArchiveOptions();

  @Mixin
  private final SpanOptions span = new SpanOptions();

  @Option(names = "--svg", paramLabel = "FILE", description = "draw the blocks' lifelines into this file")
  private Path svg;

  @Option(names = "--json", description = "print one JSON object instead of text")
  private boolean json;

  @Option(names = "--emitted", paramLabel = "N",
      description = "events that the programs counted themselves (default: the counters in their batches)")
  private Long emitted;

  @Option(names = "--session", paramLabel = "ID",
      description = "only events of this session, and of sessions that began in it")
  private String session;

  @Option(names = "--program", paramLabel = "NAME",
      description = "only events of programs of this name; * matches any text")
  private String program;

  @Option(names = "--set", paramLabel = "KEY=VALUE",
      description = "a setting bottleneck.* of the job (default: LIFELINE_JOBS_BOTTLENECK_*, or the job's defaults)")
  private final Map<String, String> settings = new LinkedHashMap<>();

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    if (emitted != null && emitted < 0) {
      throw new ParameterException(spec.commandLine(), "--emitted is a number of events, not " + emitted);
    }
    PrintWriter out = spec.commandLine().getOut();
    Report.Selection selection = new Report.Selection(session, program, settings());
    try (ArchiveReader reader = archive.open(span.span())) {
      Report report = Report.of(reader, selection, emitted);
      String picture = svg == null ? null : report.lifelinesSvg();
      if (picture != null) {
        write(picture);
      }
      if (json) {
        out.println(toJson(report));
      } else {
        print(report, picture != null, out);
      }
      out.flush();
      return 0;
    } catch (IOException | SQLException e) {
      spec.commandLine().getErr().println(
          spec.root().name() + ": " + Terminal.printableLines(String.valueOf(e.getMessage())));
      return 1;
    }
  }

  private BottleneckSettings settings() {
    for (String key : settings.keySet()) {
      if (!key.startsWith("bottleneck.")) {
        throw new ParameterException(spec.commandLine(), "--set " + key + ": expected a setting bottleneck.*");
      }
    }
    try {
      Map<String, String> environment = new HashMap<>(System.getenv());
      environment.keySet().removeIf(name -> !name.startsWith("LIFELINE_JOBS_BOTTLENECK_"));
      return BottleneckSettings.of(JobConfig.load(null, environment, settings));
    } catch (ConfigException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private void write(String picture) throws IOException {
    try {
      Files.writeString(svg, picture);
    } catch (IOException e) {
      String why = e instanceof NoSuchFileException ? "its directory does not exist" : e.getMessage();
      throw new IOException("cannot write " + svg + ": " + why + ": give --svg another place", e);
    }
  }

  private void print(Report report, boolean drawn, PrintWriter out) {
    printStages(report, out);
    out.println();
    if (drawn) {
      out.println("lifelines: " + svg);
    } else if (svg != null) {
      out.println("lifelines: not drawn, since no block has a whole lifeline in the archive");
    }
    printBottlenecks(report, out);
    out.println("ledger: " + report.ledger());
  }

  private static void printBottlenecks(Report report, PrintWriter out) {
    if (report.bottlenecks().size() < 2) {
      out.println("bottleneck: " + Terminal.printable(report.sentence()));
      return;
    }
    for (Bottleneck bottleneck : report.bottlenecks()) {
      out.println(Terminal.printable("bottleneck of " + bottleneck.group() + ": " + bottleneck.sentence()));
    }
    out.println("stages: of all of these together; --session and --program select");
  }

  private static void printStages(Report report, PrintWriter out) {
    List<List<String>> table = new ArrayList<>();
    table.add(List.of("stage", "count", "bytes", "mean ms", "p50 ms", "p99 ms", "MB/s", "busy", "at work"));
    for (StageRow row : report.stages()) {
      table.add(cells(row, report.share(Stage.of(row.operation()))));
    }
    TextTable.printRuled(table, column -> column > 0, out);
    out.println("busy: part of the run in which it ran; at work: the same, waiting excluded");
  }

  private static List<String> cells(StageRow row, double share) {
    List<String> cells = new ArrayList<>();
    cells.add(Terminal.printable(row.operation()));
    cells.add(Long.toString(row.count()));
    cells.add(Long.toString(row.bytes()));
    for (double ns : new double[] {row.meanNs(), row.p50Ns(), row.p99Ns()}) {
      cells.add(format("%.3f", ns / 1e6));
    }
    cells.add(format("%.1f", row.bytesPerSecond() / 1e6));
    cells.add(format("%.0f %%", 100 * row.busyShare()));
    cells.add(Double.isNaN(share) ? "-" : format("%.0f %%", 100 * share)); // the network's two operations share one
    return cells;
  }

  private static String format(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }

  private static ObjectNode toJson(Report report) {
    ObjectNode json = new ObjectMapper().createObjectNode();
    ArrayNode stages = json.putArray("stages");
    for (StageRow row : report.stages()) {
      stages.addObject().put("stage", row.operation()).put("count", row.count()).put("bytes", row.bytes())
          .put("mean_ns", row.meanNs()).put("p50_ns", row.p50Ns()).put("p99_ns", row.p99Ns())
          .put("bytes_per_second", row.bytesPerSecond()).put("busy", row.busyShare());
    }
    ArrayNode bottlenecks = json.putArray("bottlenecks");
    report.bottlenecks().forEach(bottleneck -> addTo(bottlenecks, bottleneck));
    ObjectNode shares = json.putObject("at_work");
    for (Stage stage : Stage.values()) {
      if (!Double.isNaN(report.share(stage))) {
        shares.put(stage.label(), report.share(stage));
      }
    }
    LedgerLine ledger = report.ledger();
    json.putObject("ledger").put("emitted", ledger.emitted()).put("archived", ledger.archived())
        .put("in_flight", ledger.inFlight()).put("dropped", ledger.dropped()).put("missing", ledger.missing())
        .put("duplicated", ledger.duplicated()).put("balances", ledger.balances());
    return json;
  }

  private static void addTo(ArrayNode bottlenecks, Bottleneck bottleneck) {
    Answer answer = bottleneck.answer();
    ObjectNode json = bottlenecks.addObject().put("group", bottleneck.group()).put("component", answer.component())
        .put("reason", answer.reason()).put("chance", answer.chance()).put("interval_ns", bottleneck.intervalNs());
    ArrayNode components = json.putArray("components");
    for (Answer.Part part : answer.parts()) {
      components.addObject().put("component", part.component()).put("samples", part.samples())
          .put("use", Double.isNaN(part.use()) ? null : part.use())
          .put("threads", part.threads() == 0 ? null : part.threads());
    }
    ArrayNode changes = json.putArray("changes");
    for (Answer.Change change : answer.changes()) {
      changes.addObject().put("component", change.component()).put("since_ns", change.sinceNs());
    }
  }
}
