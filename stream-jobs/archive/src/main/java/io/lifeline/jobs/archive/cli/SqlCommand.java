package io.lifeline.jobs.archive.cli;

import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.core.Terminal;
import java.io.IOException;
import java.io.PrintWriter;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs an SQL query on the archive. */
@Command(
    name = "sql",
    mixinStandardHelpOptions = true,
    description = "Queries the archive in SQL (of DuckDB or PostgreSQL).",
    footer = {
      "",
      "Views: one per event type under its name (\"disk.read.end\": ts, the type's",
      "fields and constants, host, program, pid, thread, incarnation, route,",
      "sequence, event_index, level), events (all types, fields as JSON), lifelines",
      "(the events of each id, in order), batches, ledger, emitters; on PostgreSQL",
      "also latest (the newest event of each type and emitter), types.",
      "",
      "With --from or --to, the views of events have only those of that time, and only",
      "files that may have such events are read: of a large Parquet archive, ask like",
      "that for an hour. Times are like 2026-11-21T05:19:00Z (UTC), seconds since 1970,",
      "or an age such as 90s, 10m, 2h or 1d.",
      "",
      "Examples:",
      "  lifeline-jobs sql --archive archive 'SHOW TABLES'",
      "  lifeline-jobs sql --archive archive \\",
      "      'SELECT type, count(*) FROM events GROUP BY ALL'",
      "  lifeline-jobs sql --archive archive --from 1h \\",
      "      'SELECT host, max(load) FROM \"host.load\" GROUP BY host'",
      "  lifeline-jobs sql --archive archive --csv \\",
      "      'SELECT ts, nbytes FROM \"disk.read.end\" ORDER BY ts'",
      "  lifeline-jobs sql --archive postgresql://me@db.example/events \\",
      "      --password-file secret 'SELECT * FROM latest'"
    })
public final class SqlCommand implements Callable<Integer> {

  @Mixin
  private final ArchiveOptions archive = new ArchiveOptions();

  @Mixin
  private final SpanOptions span = new SpanOptions();

  @ArgGroup
  private Format format = new Format();

  private static final class Format {
    @Option(names = "--json", description = "print one JSON object per row")
    private boolean json;

    @Option(names = "--csv", description = "print comma-separated values with a title line")
    private boolean csv;
  }

  @Parameters(paramLabel = "SQL", description = "one query; quote type names: \"disk.read.end\"")
  private String sql;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    try (ArchiveReader reader = archive.open(span.span()); PreparedStatement query = reader.prepare(sql)) {
      print(query);
      return 0;
    } catch (IOException | SQLException e) {
      String message = Terminal.printableLines(String.valueOf(e.getMessage()));
      spec.commandLine().getErr().println(spec.root().name() + ": " + message);
      return 1;
    }
  }

  private void print(PreparedStatement query) throws SQLException {
    PrintWriter out = spec.commandLine().getOut();
    out = Terminal.isTerminal(1) ? Terminal.guarded(out) : out;
    ResultWriter writer = format.json ? ResultWriter.JSON : format.csv ? ResultWriter.CSV : ResultWriter.TABLE;
    try (ResultSet rows = query.executeQuery()) {
      writer.write(rows, out);
    }
    out.flush();
  }
}
