package io.lifeline.connect.nats;

import io.lifeline.connect.common.TaskMetrics;
import io.lifeline.connect.common.Version;
import io.lifeline.connect.nats.InFlight.NotNowException;
import io.nats.client.Connection;
import io.nats.client.JetStream;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.sink.ErrantRecordReporter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes records. An offset is safe once the stream acknowledged the record's message and all before it, or the
 * record went to the dead letter queue.
 */
public final class NatsSinkTask extends SinkTask {

  private static final Logger LOG = LoggerFactory.getLogger(NatsSinkTask.class);
  private static final Duration ANSWER_TIME = Duration.ofSeconds(10);
  private static final String TOLERANCE = "errors.tolerance";
  private static final long DEAD_LETTER_TIME_S = 60;
  private static final long DEAD_LETTER_PAUSE_MS = 1_000;

  private MessageMapper mapper;
  private RetryBudget retries;
  private int maxInFlight;
  private NatsLink link;
  private Connection connectionInUse;
  private InFlight inFlight;
  private long maxPayload;

  /** Null when the connector has neither a dead letter queue nor a log of errors. */
  private ErrantRecordReporter deadLetters;

  private boolean tolerant;
  private TaskMetrics metrics;

  /** The offset after the last record taken: after an error Connect delivers all records of the batch again. */
  private final Map<TopicPartition, Long> taken = new HashMap<>();

  private volatile long stored;
  private volatile long duplicates;
  private volatile long refused;
  private volatile long waiting;

  @Override
  public String version() {
    return Version.TEXT;
  }

  @Override
  public void start(Map<String, String> properties) {
    SinkConfig config = new SinkConfig(properties);
    String name = properties.getOrDefault("name", "nats-sink");
    mapper = new MessageMapper(config, name);
    retries = new RetryBudget("publishing to NATS", config.getLong(ConnectionConfig.RETRY_TIMEOUT));
    deadLetters = context.errantRecordReporter();
    tolerant = "all".equals(properties.get(TOLERANCE));
    maxInFlight = config.maxInFlight();
    link = new NatsLink(config, name);
    metrics = TaskMetrics.of(context::pluginMetrics);
    metrics.add("stored-total", "Number of messages acknowledged by the stream.", () -> stored);
    metrics.add("duplicates-total", "Number of messages that the stream dropped as duplicates.", () -> duplicates);
    metrics.add("refused-total", "Number of records not convertible or refused by the broker.", () -> refused);
    metrics.add("in-flight", "Number of unacknowledged messages.", () -> waiting);
    metrics.add("connections-total", "Number of connections established.", link.log()::connections);
  }

  private InFlight.Outcome outcome() {
    return new InFlight.Outcome() {
      @Override
      public void stored(OutgoingMessage message, boolean duplicate) {
        stored++;
        duplicates += duplicate ? 1 : 0;
        retries.restored();
      }

      @Override
      public void refused(OutgoingMessage message, String cause) {
        reject(message.record(), new DataException("NATS rejected the message: " + cause));
      }
    };
  }

  @Override
  public void open(Collection<TopicPartition> partitions) {
    partitions.forEach(taken::remove);
  }

  @Override
  public void put(Collection<SinkRecord> records) {
    metrics.register();
    try {
      Connection connection = link.connection();
      if (connection != connectionInUse) {
        use(connection);
      }
      maxPayload = connection.getMaxPayload();
      inFlight.retry();
      for (SinkRecord record : records) {
        take(record);
      }
      inFlight.settleWhatIsAnswered();
      if (inFlight.size() == 0) {
        retries.restored(); // otherwise only an acknowledgement proves that the broker works
      }
    } catch (NotNowException | IOException e) {
      context.timeout(retries.after(e.getMessage()));
      throw new RetriableException("NATS does not accept messages now: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RetriableException("interrupted while publishing");
    } finally {
      waiting = inFlight == null ? 0 : inFlight.size();
    }
  }

  private void use(Connection connection) throws IOException {
    JetStream jetStream = connection.jetStream(link.jetStreamOptions());
    if (inFlight == null) {
      inFlight = new InFlight(connection, jetStream, ANSWER_TIME, maxInFlight, outcome());
    } else {
      inFlight.moveTo(connection, jetStream);
    }
    connectionInUse = connection;
  }

  private void take(SinkRecord record) throws NotNowException, InterruptedException {
    TopicPartition partition = new TopicPartition(record.originalTopic(), record.originalKafkaPartition());
    if (record.originalKafkaOffset() < taken.getOrDefault(partition, 0L)) {
      return;
    }
    try {
      OutgoingMessage message = mapper.map(record);
      if (message.size() > maxPayload) {
        throw new DataException(
            "a message of " + message.size() + " bytes exceeds the broker's max_payload of " + maxPayload);
      }
      inFlight.publish(message);
    } catch (DataException e) {
      reject(record, e);
    }
    taken.put(partition, record.originalKafkaOffset() + 1);
  }

  /** Returns when the record is no longer needed: the next committed offset may be past it. */
  private void reject(SinkRecord record, DataException error) {
    if (deadLetters != null) {
      report(record, error);
    } else if (tolerant) {
      LOG.warn("record skipped: {}", describe(record, error));
    } else {
      throw new ConnectException(describe(record, error), error);
    }
    refused++;
  }

  private static String describe(SinkRecord record, DataException error) {
    return record.originalTopic() + "-" + record.originalKafkaPartition() + " at offset "
        + record.originalKafkaOffset() + ": " + error.getMessage();
  }

  private void report(SinkRecord record, DataException error) {
    try {
      deadLetters.report(record, error).get(DEAD_LETTER_TIME_S, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw later("cannot write a record to the dead letter queue: " + e.getCause().getMessage(), e);
    } catch (TimeoutException e) {
      throw later("writing a record to the dead letter queue timed out after " + DEAD_LETTER_TIME_S + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ConnectException("interrupted while writing a record to the dead letter queue", e);
    }
  }

  private RetriableException later(String message, Exception cause) {
    context.timeout(DEAD_LETTER_PAUSE_MS);
    return new RetriableException(message, cause);
  }

  @Override
  public Map<TopicPartition, OffsetAndMetadata> preCommit(Map<TopicPartition, OffsetAndMetadata> current) {
    if (inFlight == null) {
      return current;
    }
    try {
      inFlight.settle();
    } catch (NotNowException | ConnectException e) {
      LOG.debug("messages stay in flight: {}", e.getMessage()); // the next put retries, and logs or fails
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Map<TopicPartition, Long> unsafe = inFlight.firstOffsets();
    Map<TopicPartition, OffsetAndMetadata> safe = new HashMap<>(current);
    safe.replaceAll(
        (partition, offset) ->
            new OffsetAndMetadata(Math.min(offset.offset(), unsafe.getOrDefault(partition, Long.MAX_VALUE))));
    return safe;
  }

  @Override
  public void close(Collection<TopicPartition> partitions) {
    if (inFlight != null) {
      inFlight.forget(partitions);
    }
  }

  @Override
  public void stop() {
    if (link != null) {
      link.close();
    }
  }
}
