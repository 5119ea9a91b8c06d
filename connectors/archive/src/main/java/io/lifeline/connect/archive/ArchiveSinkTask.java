package io.lifeline.connect.archive;

import io.lifeline.connect.common.TaskMetrics;
import io.lifeline.connect.common.Version;
import io.lifeline.jobs.archive.Appended;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveWriteException;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.ProducerTime;
import io.lifeline.jobs.core.Rejection;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the batches of its partitions to the archive, which defines the position of each partition
 * ({@link #open}), drops duplicates, and determines the offsets to commit ({@link
 * #preCommit}).
 *
 * <p>Transient errors (a full disk, an unreachable server) are retried without limit; the framework keeps the records
 * meanwhile. Permanent errors fail the task, without storing partial batches.
 */
public final class ArchiveSinkTask extends SinkTask {

  private static final Logger LOG = LoggerFactory.getLogger(ArchiveSinkTask.class);

  /** Interval of {@link #put} when no records arrive: buffered events must be stored in time. */
  private static final long LONGEST_POLL_MS = 1000;

  private final ProducerTime producers = new ProducerTime();
  private ArchiveSinkConfig config;
  private SinkMetrics metrics;
  private Rejections rejections;
  private HeldPartitions partitions;
  private SinkRecord current;
  private boolean redelivering;

  @Override
  public String version() {
    return Version.TEXT;
  }

  @Override
  public void start(Map<String, String> settings) {
    config = new ArchiveSinkConfig(settings);
    metrics = new SinkMetrics(TaskMetrics.of(context::pluginMetrics));
    rejections = new Rejections(context, config.toleratesErrors());
    partitions = new HeldPartitions(context, config.archive(), this::reject, config.takeoverTimeoutMs());
    context.timeout(pollMs());
  }

  private void reject(Rejection rejection) {
    rejections.report(record(rejection.position()), rejection);
    metrics.rejected.increment();
  }

  /** The record of a conflict that only the archive detected is no longer held: only its position is reported. */
  private SinkRecord record(Position position) {
    return current.originalKafkaPartition() == position.partition()
            && current.originalKafkaOffset() == position.offset()
        ? current
        : new SinkRecord(current.originalTopic(), position.partition(), null, null, null, null, position.offset());
  }

  @Override
  public void open(Collection<TopicPartition> assigned) {
    partitions.assign(assigned);
    if (!redelivering) { // the framework has all partitions paused then, and one must not start before the others
      partitions.takeFree();
    }
  }

  @Override
  public void put(Collection<SinkRecord> records) {
    try {
      for (SinkRecord taken : records) {
        append(taken);
      }
      partitions.rollIfDue();
      redelivering = false;
    } catch (ArchiveWriteException | RetriableException e) {
      throw tryAgain(e);
    } catch (ArchiveException e) {
      throw fail(new ConnectException(e.getMessage(), e));
    } catch (IOException e) {
      reopen(e);
      return;
    } catch (RuntimeException e) {
      throw fail(e);
    }
    partitions.takeFree();
    metrics.show(partitions.heldBytes(), partitions.waiting());
    context.timeout(pollMs());
  }

  private void append(SinkRecord taken) throws IOException {
    if (!partitions.isHeld(taken)) {
      return; // read again when the partition's lock is held
    }
    current = taken;
    Position position = new Position(taken.originalKafkaPartition(), taken.originalKafkaOffset(), brokerTimeMs(taken));
    Appended appended = partitions.writer().append(position, bytes(taken));
    switch (appended) {
      case ACCEPTED -> metrics.batches.increment();
      case DUPLICATE -> metrics.duplicates.increment();
      case REJECTED, ALREADY_ARCHIVED -> {}
    }
  }

  /** The broker's time is used unchanged, a producer's only within bounds. */
  private long brokerTimeMs(SinkRecord taken) {
    if (taken.timestamp() == null) {
      return System.currentTimeMillis();
    }
    return taken.timestampType() == TimestampType.LOG_APPEND_TIME
        ? taken.timestamp()
        : producers.believable(taken.originalKafkaPartition(), taken.originalKafkaOffset(), taken.timestamp());
  }

  /** A tombstone is an empty message, which the archive rejects as an invalid batch. */
  private static byte[] bytes(SinkRecord taken) {
    Object value = taken.value();
    if (value == null || value instanceof byte[]) {
      return (byte[]) value;
    }
    if (value instanceof ByteBuffer buffer) {
      byte[] copy = new byte[buffer.remaining()];
      buffer.duplicate().get(copy);
      return copy;
    }
    throw new ConnectException(
        "the archive needs a batch's bytes, and the converter made a " + value.getClass().getSimpleName()
            + " of them: set " + FrameworkSettings.VALUE_CONVERTER + "=" + FrameworkSettings.BYTES_CONVERTER);
  }

  private RetriableException tryAgain(Exception reason) {
    redelivering = true;
    metrics.retries.increment();
    context.timeout(config.retryBackoffMs());
    return new RetriableException(reason.getMessage(), reason);
  }

  /** Buffered events are lost with the writer, so each partition is read again from the archive's end. */
  private void reopen(IOException reason) {
    LOG.warn("reopening the archive in {} ms: {}", config.retryBackoffMs(), reason.getMessage(), reason);
    metrics.retries.increment();
    redelivering = false;
    partitions.reopenIn(config.retryBackoffMs());
    context.timeout(config.retryBackoffMs());
  }

  private RuntimeException fail(RuntimeException reason) {
    partitions.abandon();
    return reason;
  }

  private long pollMs() {
    return config.rollIntervalMs() == null ? LONGEST_POLL_MS : Math.min(LONGEST_POLL_MS, config.rollIntervalMs());
  }

  /** The offsets that the archive has stored; they show the consumer group's lag. */
  @Override
  public Map<TopicPartition, OffsetAndMetadata> preCommit(Map<TopicPartition, OffsetAndMetadata> consumed) {
    Map<TopicPartition, OffsetAndMetadata> stored = partitions.stored();
    stored.keySet().retainAll(consumed.keySet());
    return stored;
  }

  @Override
  public void close(Collection<TopicPartition> revoked) {
    partitions.release(revoked);
  }

  @Override
  public void stop() {
    if (partitions != null) {
      partitions.abandon();
    }
  }
}
