package io.lifeline.connect.nats;

import io.lifeline.connect.common.TaskMetrics;
import io.lifeline.connect.common.Version;
import io.lifeline.connect.nats.InFlight.NotNowException;
import io.nats.client.Connection;
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
  private Patience patience;
  private int maxInFlight;
  private NatsLink link;
  private InFlight inFlight;
  private long maxPayload;

  /** Null when the connector has neither a dead letter queue nor a log of errors. */
  private ErrantRecordReporter deadLetters;

  private boolean tolerant;
  private TaskMetrics metrics;

  /** The offset behind the last record that was taken: after an error Connect brings the others again, and it too. */
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
    patience = new Patience("publishing to NATS", config.getLong(ConnectionConfig.RETRY_TIMEOUT));
    deadLetters = context.errantRecordReporter();
    tolerant = "all".equals(properties.get(TOLERANCE));
    maxInFlight = config.maxInFlight();
    link = new NatsLink(config, name);
    metrics = TaskMetrics.of(context::pluginMetrics);
    metrics.add("stored-total", "Messages that the stream acknowledged.", () -> stored);
    metrics.add("duplicates-total", "Those among them that the stream had already.", () -> duplicates);
    metrics.add("refused-total", "Records that could not become messages, or that the broker refused.", () -> refused);
    metrics.add("in-flight", "Messages without an acknowledgement.", () -> waiting);
    metrics.add("connections-total", "How often the connection was made.", link.log()::connections);
  }

  private InFlight.Outcome outcome() {
    return new InFlight.Outcome() {
      @Override
      public void stored(OutgoingMessage message, boolean duplicate) {
        stored++;
        duplicates += duplicate ? 1 : 0;
        patience.restored();
      }

      @Override
      public void refused(OutgoingMessage message, String cause) {
        reject(message.record(), new DataException("NATS refuses the message: " + cause));
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
      if (inFlight == null) {
        inFlight =
            new InFlight(
                connection, connection.jetStream(link.jetStreamOptions()), ANSWER_TIME, maxInFlight, outcome());
      }
      maxPayload = connection.getMaxPayload();
      inFlight.retry();
      for (SinkRecord record : records) {
        take(record);
      }
      inFlight.settleWhatIsAnswered();
      if (inFlight.size() == 0) {
        patience.restored(); // else only an acknowledgement shows that the broker does more than listen
      }
    } catch (NotNowException | IOException e) {
      context.timeout(patience.after(e.getMessage()));
      throw new RetriableException("NATS does not take messages now: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RetriableException("interrupted while publishing");
    } finally {
      waiting = inFlight == null ? 0 : inFlight.size();
    }
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
            "a message of " + message.size() + " bytes is above the broker's max_payload of " + maxPayload);
      }
      inFlight.publish(message);
    } catch (DataException e) {
      reject(record, e);
    }
    taken.put(partition, record.originalKafkaOffset() + 1);
  }

  /** Returns once nobody wants the record any more: the offset that is committed next may lie behind it. */
  private void reject(SinkRecord record, DataException error) {
    if (deadLetters != null) {
      report(record, error);
    } else if (tolerant) {
      LOG.warn("passed by: {}", describe(record, error));
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
      throw later("a record does not reach the dead letter queue: " + e.getCause().getMessage(), e);
    } catch (TimeoutException e) {
      throw later("a record did not reach the dead letter queue within " + DEAD_LETTER_TIME_S + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ConnectException("interrupted while a record went to the dead letter queue", e);
    }
  }

  private RetriableException later(String message, Exception cause) {
    context.timeout(DEAD_LETTER_PAUSE_MS);
    return new RetriableException(message, cause);
  }

  @Override
  public Map<TopicPartition, OffsetAndMetadata> preCommit(Map<TopicPartition, OffsetAndMetadata> current) {
    if (inFlight == null) {
      return current; // nothing was taken
    }
    try {
      inFlight.settle();
    } catch (NotNowException | ConnectException e) {
      LOG.debug("messages stay in flight: {}", e.getMessage()); // the next put tries again, and says so or fails
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
