package io.lifeline.jobs.archive.cli;

import io.lifeline.jobs.archive.sql.TypeFiles;
import io.lifeline.jobs.core.Terminal;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Lists the files of one event type, for programs that read Parquet themselves. */
@Command(
    name = "files",
    mixinStandardHelpOptions = true,
    description = "Lists the files of a Parquet archive that hold one event type, for DuckDB, pandas or Spark.",
    footer = {
      "",
      "Without --shared and --sql: the files that hold nothing else. A type that was",
      "rare when they were written shares files with others: --shared lists those;",
      "their column name has the type, fields has the fields as JSON. The query that",
      "--sql prints reads all of them, in any DuckDB. Ask again for newer events: what",
      "a compaction replaced is deleted later, by writers after an hour.",
      "",
      "With --from or --to, files that have no events of that time are left out; others",
      "may have further events, which the query excludes.",
      "",
      "Example:",
      "  duckdb -c \"SELECT count(*) FROM ($(lifeline-jobs files --archive archive \\",
      "      --type disk.read.end --sql))\""
    })
public final class FilesCommand implements Callable<Integer> {

  @Option(names = "--archive", required = true, paramLabel = "DIR", description = "the archive's directory")
  private Path archive;

  @Option(names = "--type", required = true, paramLabel = "NAME", description = "the event type")
  private String type;

  @Mixin
  private final SpanOptions span = new SpanOptions();

  @ArgGroup
  private What what = new What();

  private static final class What {
    @Option(names = "--shared", description = "list the files that it shares with other types")
    private boolean shared;

    @Option(names = "--sql", description = "print a query for DuckDB that reads all of them")
    private boolean sql;
  }

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    try {
      TypeFiles files = TypeFiles.of(archive, type, span.span());
      if (what.sql) { // names in it come from emitters
        out.println(System.console() == null ? files.sql() : Terminal.printableLines(files.sql()));
      } else {
        (what.shared ? files.shared() : files.own()).forEach(out::println);
      }
      out.flush();
      if (!what.sql && !what.shared && !files.shared().isEmpty()) {
        report("events of this type are also in " + files.shared().size()
            + " files that hold several types: see --shared and --sql");
      }
      return 0;
    } catch (IOException e) {
      report(e.getMessage());
      return 1;
    }
  }

  private void report(String message) {
    spec.commandLine().getErr().println(spec.root().name() + ": " + Terminal.printableLines(message));
  }
}
