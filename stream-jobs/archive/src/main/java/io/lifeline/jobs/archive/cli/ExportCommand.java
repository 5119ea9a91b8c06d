package io.lifeline.jobs.archive.cli;

import io.lifeline.jobs.archive.EventCursor;
import io.lifeline.jobs.archive.EventReader;
import io.lifeline.jobs.archive.EventSelection;
import io.lifeline.jobs.archive.export.Counts;
import io.lifeline.jobs.archive.export.ExportFormat;
import io.lifeline.jobs.archive.export.ExportOptions;
import io.lifeline.jobs.archive.export.Output;
import io.lifeline.jobs.archive.export.Progress;
import io.lifeline.jobs.archive.export.Unfinished;
import io.lifeline.jobs.core.Glob;
import io.lifeline.jobs.core.Terminal;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Exports events of an archive for other tools. */
@Command(
    name = "export",
    mixinStandardHelpOptions = true,
    description = "Exports events of the archive, in order of time, in the format of another tool.",
    footer = {
      "",
      "Formats:",
      "  perfetto  trace for ui.perfetto.dev: X.start and X.end as slices, a track per",
      "            process, thread and X; other events as instants; flows that connect",
      "            the events of one id; counters",
      "  chrome    the same as Chrome's trace event JSON",
      "  paraver   FILE.prv, FILE.pcf and FILE.row: states, events, communications",
      "  bp, ulm   NetLogger's lines, as lifeline-cat writes them",
      "  json      JSON lines, as the job decode and lifeline-cat write them",
      "  xml       an element per event",
      "  csv, parquet",
      "            a row per event, its fields as JSON in the last column",
      "  perfsonar",
      "            transfers and TCP connections as records of perfSONAR archives, JSON lines",
      "",
      "The file gets its name when it is complete. A line on standard error counts the",
      "events, and what the format could not show: operations without end (open),",
      "ends_without_start, ends before their start (reversed), starts beyond --max-open",
      "(given_up), events beyond --max-tracks.",
      "",
      "Times: 2026-11-21T05:19:00Z (UTC, with or without a fraction), seconds since",
      "1970, or an age such as 90s, 10m, 2h or 1d.",
      "",
      "Exit status: 0, 1 if the export failed, 2 for a wrong command line.",
      "",
      "Examples:",
      "  lifeline-jobs export --archive archive --format perfetto --output copy.pftrace",
      "  lifeline-jobs export --archive archive --format bp --type 'disk.*' --since 10m",
      "  lifeline-jobs export --archive archive --session ID --format perfsonar",
      "  lifeline-jobs export --archive postgresql://me@db.example/events \\",
      "      --password-file secret --format csv --where \"level = 'error'\""
    })
public final class ExportCommand implements Callable<Integer> {

  private static final int MAX_LIMIT = 10_000_000;
  private static final int MOST_NAMES = 20;
  private static final int MIN_MEMORY_MIB = 256;

  @Mixin
  private final ArchiveOptions archive = new ArchiveOptions();

  @Option(names = "--format", required = true, paramLabel = "FORMAT",
      description = "perfetto, chrome, paraver, bp, ulm, xml, csv, parquet, perfsonar or json")
  private String format;

  @Option(names = "--output", paramLabel = "FILE", description = "file to write (default: standard output)")
  private Path output;

  @Option(names = "--type", paramLabel = "GLOB",
      description = "only events of these types; * matches any text; may be given several times")
  private List<String> types = new ArrayList<>();

  @Option(names = "--program", paramLabel = "GLOB", description = "only events of these programs")
  private String program;

  @Option(names = "--host", paramLabel = "GLOB", description = "only events of these hosts")
  private String host;

  @Mixin
  private final SpanOptions span = new SpanOptions();

  @Option(names = "--session", paramLabel = "ID",
      description = "only what belongs to this session: events of its programs, and of its hosts meanwhile")
  private String session;

  @Option(names = "--where", paramLabel = "SQL",
      description = "only events that meet this condition on the columns of the view events")
  private String where;

  @Option(names = "--counter", paramLabel = "GLOB", defaultValue = "host.*",
      description = "event types whose numbers become counters of a timeline (default: ${DEFAULT-VALUE});"
          + " may be given several times")
  private List<String> counters;

  @Option(names = "--max-open", paramLabel = "N", defaultValue = "100000",
      description = "operations without end, and ids, that are remembered (default: ${DEFAULT-VALUE})")
  private int maxOpen;

  @Option(names = "--max-tracks", paramLabel = "N", defaultValue = "100000",
      description = "tracks of a timeline, or threads of a Paraver trace (default: ${DEFAULT-VALUE})")
  private int maxTracks;

  @Option(names = "--memory-mib", paramLabel = "N", defaultValue = "1024",
      description = "memory of DuckDB (default: ${DEFAULT-VALUE}), which sorts events slice by slice")
  private int memoryMib;

  @Option(names = "--temp-dir", paramLabel = "DIR",
      description = "directory for what it cannot sort in memory (default: that of the output, or the system's)")
  private Path tempDir;

  @Spec private CommandSpec spec;

  private final OutputStream standardOutput;

  public ExportCommand() {
    this(new FileOutputStream(FileDescriptor.out));
  }

  /** @param standardOutput for tests */
  ExportCommand(OutputStream standardOutput) {
    this.standardOutput = standardOutput;
  }

  @Override
  public Integer call() {
    ExportFormat wanted = format();
    EventSelection selection = selection();
    check();
    PrintWriter err = spec.commandLine().getErr();
    try (Unfinished unfinished = new Unfinished()) {
      Path spill = spill(unfinished);
      ExportOptions options = new ExportOptions(maxOpen, maxTracks, counters.stream().map(Glob::of).toList(), spill,
          (long) memoryMib << 20, session);
      Counts counts = new Counts();
      try (Output to = Output.to(output, standardOutput, spill, unfinished);
          EventReader reader = archive.openEvents(spill, options.memoryBytes());
          EventCursor events = new Progress(reader.read(selection), counts, Terminal.isTerminal(2) ? err : null,
              System::nanoTime)) {
        wanted.create(options).write(events, to, counts);
        to.commit();
        if (counts.get("events") == 0) {
          sayWhichTypesThereAre(reader.eventTypes(), selection);
        }
      }
      err.println(spec.root().name() + ": " + counts);
      return 0;
    } catch (IOException | SQLException e) {
      err.println(spec.root().name() + ": " + Terminal.printableLines(String.valueOf(e.getMessage())));
      return 1;
    }
  }

  private ExportFormat format() {
    try {
      ExportFormat wanted = ExportFormat.valueOf(format.toUpperCase(Locale.ROOT));
      if (wanted == ExportFormat.PARAVER && Output.isStandardOutput(output)) {
        throw wrong("a Paraver trace consists of three files: give --output the name of the first one, FILE.prv");
      }
      return wanted;
    } catch (IllegalArgumentException e) {
      throw wrong("--format is perfetto, chrome, paraver, bp, ulm, xml, csv, parquet, perfsonar or json, not '"
          + format + "'");
    }
  }

  private EventSelection selection() {
    return new EventSelection(types.stream().map(Glob::of).toList(), program, host, span.sinceNs(), span.untilNs(),
        where, session);
  }

  /** A type that is mistyped is no error: programs may not have emitted it yet. */
  private void sayWhichTypesThereAre(Set<String> all, EventSelection selection) {
    if (all.stream().noneMatch(selection::selectsType)) {
      String names = all.stream().sorted().limit(MOST_NAMES).map(name -> "'" + Terminal.printable(name) + "'")
          .collect(Collectors.joining(", "));
      spec.commandLine().getErr().println(spec.root().name()
          + ": no event is of a type that --type names; the types are " + names
          + (all.size() > MOST_NAMES ? " and " + (all.size() - MOST_NAMES) + " others" : ""));
    }
  }

  private void check() {
    if (maxOpen < 1 || maxOpen > MAX_LIMIT || maxTracks < 1 || maxTracks > MAX_LIMIT) {
      throw wrong("--max-open and --max-tracks are from 1 to " + MAX_LIMIT);
    }
    if (memoryMib < MIN_MEMORY_MIB) {
      throw wrong("--memory-mib is at least " + MIN_MEMORY_MIB);
    }
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  private Path spill(Unfinished unfinished) throws IOException {
    Path beside = Output.isStandardOutput(output) ? null : output.toAbsolutePath().getParent();
    Path parent = tempDir != null ? tempDir
        : beside != null && Files.isWritable(beside) ? beside : Path.of(System.getProperty("java.io.tmpdir"));
    try {
      return unfinished.add(Files.createTempDirectory(parent, ".lifeline-export-"));
    } catch (IOException e) {
      throw new IOException("cannot create a directory in " + parent + ": " + e.getMessage() + ": set --temp-dir", e);
    }
  }
}
