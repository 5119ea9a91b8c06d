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
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
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
      "The bottleneck is the stage that is at work for more than half of the time,",
      "if every other one is for at least a fifth less. It is named when at least",
      "95 %% of resamples of the run agree (the certainty), else the answer is none.",
      "",
      "With --from or --to (a Parquet archive), stages and bottleneck are those of that",
      "time; the ledger is always that of the whole archive, with expired events.",
      "",
      "Exit status: 0, or 1 if the archive cannot be read.",
      "",
      "Examples:",
      "  lifeline-jobs report --archive archive --svg lifelines.svg",
      "  lifeline-jobs report --archive postgresql://me@db.example/events \\",
      "      --password-file secret --json"
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

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    try (ArchiveReader reader = archive.open(span.span())) {
      Report report = Report.of(reader, emitted);
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
    out.println("bottleneck: " + report.bottleneck().sentence());
    out.println("ledger: " + report.ledger());
  }

  private static void printStages(Report report, PrintWriter out) {
    List<String[]> table = new ArrayList<>();
    table.add(new String[] {"stage", "count", "bytes", "mean ms", "p50 ms", "p99 ms", "MB/s", "busy", "at work"});
    for (StageRow row : report.stages()) {
      table.add(cells(row, report.bottleneck()));
    }
    TextTable.print(table, new boolean[] {false, true, true, true, true, true, true, true, true}, out);
    out.println("busy: part of the run in which it ran; at work: the same, waiting excluded");
  }

  private static String[] cells(StageRow row, Bottleneck bottleneck) {
    List<String> cells = new ArrayList<>();
    cells.add(Terminal.printable(row.operation()));
    cells.add(Long.toString(row.count()));
    cells.add(Long.toString(row.bytes()));
    for (double ns : new double[] {row.meanNs(), row.p50Ns(), row.p99Ns()}) {
      cells.add(format("%.3f", ns / 1e6));
    }
    cells.add(format("%.1f", row.bytesPerSecond() / 1e6));
    cells.add(format("%.0f %%", 100 * row.busyShare()));
    cells.add(atWork(bottleneck, row.operation()));
    return cells.toArray(new String[0]);
  }

  /** Returns the share of the operation's stage; the network's two operations share one. */
  private static String atWork(Bottleneck bottleneck, String operation) {
    Stage stage = Stage.of(operation);
    return stage == null || bottleneck.shares() == null
        ? "-" : format("%.0f %%", 100 * bottleneck.shares()[stage.ordinal()]);
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
    Bottleneck bottleneck = report.bottleneck();
    ObjectNode answer = json.putObject("bottleneck");
    answer.put("stage", bottleneck.stage() == null ? "none" : bottleneck.stage().label());
    if (bottleneck.reason() != null) {
      answer.put("reason", bottleneck.reason());
    } else {
      answer.put("certainty", bottleneck.certainty()).put("low", bottleneck.low()).put("high", bottleneck.high());
      ObjectNode shares = answer.putObject("at_work");
      for (Stage stage : Stage.values()) {
        shares.put(stage.label(), bottleneck.shares()[stage.ordinal()]);
      }
    }
    LedgerLine ledger = report.ledger();
    json.putObject("ledger").put("emitted", ledger.emitted()).put("archived", ledger.archived())
        .put("in_flight", ledger.inFlight()).put("dropped", ledger.dropped()).put("missing", ledger.missing())
        .put("duplicated", ledger.duplicated()).put("balances", ledger.balances());
    return json;
  }
}
