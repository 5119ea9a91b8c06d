package io.lifeline.connect.nats;

import io.lifeline.connect.common.TaskMetrics;
import io.lifeline.connect.common.Version;
import io.lifeline.connect.nats.StreamReader.Received;
import io.lifeline.connect.nats.StreamReader.Start;
import io.nats.client.JetStreamApiException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/** Reads subjects of a stream, starting at Connect's offsets. */
public final class JetStreamSourceTask extends SourceTask {

  private static final Duration WAIT = Duration.ofMillis(500);

  private RecordMapper mapper;
  private RetryBudget retries;
  private int pollRecords;
  private long pollBytes;
  private NatsLink link;
  private StreamReader reader;
  private TaskMetrics metrics;
  private volatile long messages;
  private volatile long bytes;

  @Override
  public String version() {
    return Version.TEXT;
  }

  @Override
  public void start(Map<String, String> properties) {
    SourceConfig config = new SourceConfig(properties);
    mapper = new RecordMapper(config);
    retries = new RetryBudget("reading stream " + config.stream(), config.getLong(ConnectionConfig.RETRY_TIMEOUT));
    pollRecords = config.pollRecords();
    pollBytes = config.readAheadBytes() / 2;
    List<SubjectCursor> cursors = cursors(config, properties.get(SourceConfig.TASK_SUBJECTS).split(","));
    link = new NatsLink(config, properties.getOrDefault("name", "jetstream-source"));
    reader = new StreamReader(link, config.stream(), config.readAheadBytes(), cursors);
    publishMetrics(cursors);
  }

  private List<SubjectCursor> cursors(SourceConfig config, String[] filters) {
    Start start = new Start(config.startsWithNew(), config.startTime().orElse(null));
    List<SubjectCursor> cursors = new ArrayList<>();
    for (String filter : filters) {
      Map<String, Object> offset =
          context.offsetStorageReader().offset(SourcePosition.partition(config.stream(), filter));
      long next = offset == null ? 0 : SourcePosition.sequence(offset) + 1;
      long timeNs = offset == null ? 0 : SourcePosition.timeNs(offset);
      cursors.add(new SubjectCursor(config.stream(), filter, next, timeNs, start));
    }
    return cursors;
  }

  private void publishMetrics(List<SubjectCursor> cursors) {
    metrics = TaskMetrics.of(context::pluginMetrics);
    metrics.add("messages-total", "Number of messages read.", () -> messages);
    metrics.add("bytes-total", "Payload bytes read.", () -> bytes);
    metrics.add("consumers-total", "Number of consumers created on the server.", reader::consumersMade);
    metrics.add("connections-total", "Number of connections established.", link.log()::connections);
    for (SubjectCursor cursor : cursors) {
      Map<String, String> tags = Map.of("filter", cursor.filter());
      metrics.add("lag", "Number of unread messages in the stream.", tags, cursor::pending);
      metrics.add("expired-total", "Number of sequences deleted before they were read.", tags, cursor::expired);
    }
  }

  /** Returns available records; null if none arrive within half a second. */
  @Override
  public List<SourceRecord> poll() throws InterruptedException {
    metrics.register();
    List<SourceRecord> records = new ArrayList<>();
    try {
      long size = 0;
      Received received = reader.next(WAIT);
      while (received != null) {
        records.add(mapper.map(received.message(), received.delivery(), received.cursor().partition()));
        size += received.message().getData().length;
        received = records.size() < pollRecords && size < pollBytes ? reader.next(null) : null;
      }
      messages += records.size();
      bytes += size;
      retries.restored();
    } catch (IOException | JetStreamApiException e) {
      // Short pauses only: the worker stops a task between two polls.
      Thread.sleep(Math.min(retries.after(e.getMessage()), WAIT.toMillis()));
    }
    return records.isEmpty() ? null : records;
  }

  @Override
  public void stop() {
    try {
      if (reader != null) {
        reader.close();
      }
    } finally {
      if (link != null) {
        link.close();
      }
    }
  }
}
