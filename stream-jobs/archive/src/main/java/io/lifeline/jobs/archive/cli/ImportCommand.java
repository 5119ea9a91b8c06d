package io.lifeline.jobs.archive.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.jobs.archive.export.PerfsonarReader;
import io.lifeline.jobs.core.Terminal;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Makes batches of perfSONAR's archive records. */
@Command(
    name = "import",
    mixinStandardHelpOptions = true,
    description = "Makes batches of measurements of other tools, to be read or published.",
    footer = {
      "",
      "The input is JSON: records of perfSONAR archives one after the other, in an array, or",
      "as pScheduler passes them to an archiver. Tests of the types throughput and rtt become",
      "events: transfer.start, transfer.end, perfsonar.throughput (an interval of a stream) and",
      "perfsonar.rtt (a round trip). Records of `lifeline export --format perfsonar` become the",
      "same transfers again. The session is the exported one, else the record's id.",
      "",
      "A batch follows from its record alone: what is imported twice is absorbed as a duplicate.",
      "A record that cannot be imported is skipped, with a line on standard error.",
      "",
      "Exit status: 0, 1 if a record was skipped or the import failed, 2 for a wrong command line.",
      "",
      "Example:",
      "  lifeline-jobs import --output events.llb records.json && lifeline-cat events.llb"
    })
public final class ImportCommand implements Callable<Integer> {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  @Option(names = "--format", paramLabel = "FORMAT", defaultValue = "perfsonar",
      description = "perfsonar (default: ${DEFAULT-VALUE})")
  private String format;

  @Option(names = "--output", paramLabel = "FILE", description = "file to write (default: standard output)")
  private Path output;

  @Parameters(paramLabel = "FILE", arity = "0..1", description = "file to read (default: standard input)")
  private Path input;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    if (!format.equals("perfsonar")) {
      throw new ParameterException(spec.commandLine(), "--format is perfsonar, not '" + format + "'");
    }
    PrintWriter err = spec.commandLine().getErr();
    Counts counts = new Counts();
    try (InputStream in = input == null ? System.in : new BufferedInputStream(Files.newInputStream(input));
        OutputStream out = new BufferedOutputStream(
            output == null ? new FileOutputStream(FileDescriptor.out) : Files.newOutputStream(output))) {
      MappingIterator<JsonNode> records = MAPPER.readerFor(JsonNode.class).readValues(in);
      while (records.hasNextValue()) {
        add(records.nextValue(), out, counts, err);
      }
    } catch (IOException e) {
      err.println(spec.root().name() + ": " + (e instanceof JsonProcessingException json
          ? "line " + (json.getLocation() == null ? 0 : json.getLocation().getLineNr()) + ": no valid JSON"
          : Terminal.printableLines(String.valueOf(e.getMessage()))));
      counts.failed = true;
    }
    err.println(spec.root().name() + ": records=" + counts.records + " skipped=" + counts.skipped);
    return counts.failed || counts.skipped > 0 ? 1 : 0;
  }

  private static final class Counts {
    long records;
    long skipped;
    boolean failed;
  }

  private void add(JsonNode json, OutputStream out, Counts counts, PrintWriter err) throws IOException {
    counts.records++;
    try {
      out.write(PerfsonarReader.batch(json));
    } catch (PerfsonarReader.InvalidRecordException | IllegalArgumentException e) {
      counts.skipped++;
      err.println(spec.root().name() + ": record " + counts.records + " is skipped: "
          + Terminal.printableLines(String.valueOf(e.getMessage())));
    }
  }
}
