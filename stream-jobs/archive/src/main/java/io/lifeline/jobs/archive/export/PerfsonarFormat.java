package io.lifeline.jobs.archive.export;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.EventCursor;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Measurements as perfSONAR's archive records, one JSON object per line: each transfer (transfer.start and
 * transfer.end) as a throughput test, each TCP connection (samples tcp.info) as a throughput and an rtt test.
 * Transfers come in order of their end, connections behind them.
 */
final class PerfsonarFormat implements EventFormat {
  private static final String TRANSFER_START = "transfer.start";
  private static final String TRANSFER_END = "transfer.end";
  private static final String CONNECTION = "tcp.info";
  private static final int MOST_CONNECTIONS = 10_000;

  /** Of all connections, about; they share the memory. */
  private static final int MOST_SAMPLES = 128 << 10;

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final ExportOptions options;
  private final Map<String, PerfsonarConnection> connections = new LinkedHashMap<>();

  PerfsonarFormat(ExportOptions options) {
    this.options = options;
  }

  @Override
  public void write(EventCursor events, Output output, Counts counts) throws IOException, SQLException {
    OpenPairs<ArchivedEvent> transfers = new OpenPairs<>(options.maxOpen(), events.types(), counts);
    counts.add("records", 0);
    try (Writer out = new BufferedWriter(new OutputStreamWriter(output.stream(), StandardCharsets.UTF_8))) {
      for (ArchivedEvent event = events.next(); event != null; event = events.next()) {
        switch (event.type().name()) {
          case TRANSFER_START -> {
            if (!transfers.isReversed(event)) {
              transfers.open(event, event);
              transfers.giveUp();
            }
          }
          case TRANSFER_END -> {
            OpenPairs.Open<ArchivedEvent> start = transfers.close(event);
            if (start != null) {
              write(out, counts, transfer(start.kept, event));
            }
          }
          case CONNECTION -> sample(event, counts);
          default -> counts.add("not_shown", 1);
        }
      }
      transfers.finish();
      for (PerfsonarConnection connection : connections.values()) {
        write(out, counts, connection.throughput(options.session()));
        write(out, counts, connection.rtt(options.session()));
      }
    }
  }

  private void sample(ArchivedEvent event, Counts counts) {
    String key = event.incarnation() + " " + event.id();
    PerfsonarConnection connection = connections.get(key);
    if (connection == null) {
      if (connections.size() >= MOST_CONNECTIONS) {
        counts.add("beyond_most_connections", 1);
        return;
      }
      connection = new PerfsonarConnection(event);
      connections.put(key, connection);
    }
    connection.add(event, Math.min(PerfsonarConnection.MOST_SAMPLES, MOST_SAMPLES / connections.size()));
  }

  private static void write(Writer out, Counts counts, ObjectNode json) throws IOException {
    if (json != null) {
      out.append(MAPPER.writeValueAsString(json)).append('\n');
      counts.add("records", 1);
    }
  }

  private ObjectNode transfer(ArchivedEvent start, ArchivedEvent end) {
    String source = EventValues.text(start, "source");
    String destination = EventValues.text(start, "destination");
    double bytes = EventValues.real(end, "nbytes");
    boolean ok = EventValues.truth(end, "ok");
    PerfsonarRecord record = new PerfsonarRecord("throughput",
        PerfsonarRecord.identity(start, start.thread() + " " + start.id(), options.session()),
        PerfsonarRecord.host(source, start.host()), PerfsonarRecord.host(destination, start.host()), start.timeNs(),
        end.timeNs()).of(start, options.session());
    record.spec.put("duration", record.json.path("schedule").path("duration").asText());
    record.result.put("schema", 1).put("succeeded", ok).put("diags", "");
    if (!ok) {
      record.result.put("error", "the program reported that the transfer failed");
    }
    record.result.putArray("intervals");
    ObjectNode summary = record.result.putObject("summary");
    summary.putArray("streams");
    record.rate(summary.putObject("summary"), bytes);
    record.reference.put("id", start.id()).put("source", source).put("destination", destination)
        .put("expected", EventValues.unsigned(start, "nbytes")).put("nbytes", EventValues.unsigned(end, "nbytes"));
    return record.json;
  }
}
