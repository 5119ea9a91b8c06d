package io.lifeline.connect.archive;

import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.ArchiveCollisionException;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveFeed;
import io.lifeline.jobs.archive.ArchiveWriteException;
import io.lifeline.jobs.archive.ArchiveWriter;
import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTaskContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partitions assigned to one task, and the writer that stores them. The archive has its own locks, and a previous
 * task may hold one after a rebalance. Until the lock is free, the partition is paused and <i>waiting</i>; then it is
 * <i>held</i>, and read from the archive's end.
 */
final class HeldPartitions {

  private static final Logger LOG = LoggerFactory.getLogger(HeldPartitions.class);
  private static final long LOOK_INTERVAL_NS = 500_000_000;

  private final SinkTaskContext context;
  private final Archive archive;
  private final ArchiveFeed feed;
  private final long takeoverTimeoutMs;

  /** Partitions without a lock, with the System.nanoTime since when they wait. */
  private final Map<TopicPartition, Long> waiting = new HashMap<>();

  /** Locked partitions and their first offset: one before the archive's end, to compare that record if possible. */
  private final Map<TopicPartition, Long> held = new HashMap<>();

  private ArchiveWriter writer;
  private long nextLookNs = System.nanoTime();

  HeldPartitions(
      SinkTaskContext context, Archive archive, ArchiveFeed feed, long takeoverTimeoutMs) {
    this.context = context;
    this.archive = archive;
    this.feed = feed;
    this.takeoverTimeoutMs = takeoverTimeoutMs;
  }

  /** Pauses assigned partitions until their locks are taken. */
  void assign(Collection<TopicPartition> assigned) {
    long now = System.nanoTime();
    context.pause(assigned.toArray(TopicPartition[]::new));
    assigned.forEach(partition -> waiting.put(partition, now));
    nextLookNs = now;
  }

  /**
   * Takes every free lock, if a check is due, and seeks its partition to the archive's end.
   *
   * @throws ConnectException if another writer exceeds the takeover timeout, or the archive is damaged
   */
  void takeFree() {
    long now = System.nanoTime();
    if (waiting.isEmpty() || now - nextLookNs < 0) {
      return;
    }
    nextLookNs = now + LOOK_INTERVAL_NS;
    for (Iterator<Map.Entry<TopicPartition, Long>> each = waiting.entrySet().iterator(); each.hasNext(); ) {
      Map.Entry<TopicPartition, Long> partition = each.next();
      try {
        take(partition.getKey());
        each.remove();
      } catch (ArchiveCollisionException e) {
        if (now - partition.getValue() > takeoverTimeoutMs * 1_000_000) {
          throw new ConnectException(e.getMessage(), e);
        }
        LOG.info("waiting for {}: {}", partition.getKey(), e.getMessage());
      } catch (ArchiveWriteException e) {
        LOG.warn("{} cannot be taken yet: {}", partition.getKey(), e.getMessage());
      } catch (ArchiveException e) {
        throw new ConnectException(e.getMessage(), e);
      } catch (IOException e) {
        LOG.warn("{} cannot be taken yet: {}", partition.getKey(), e.getMessage(), e);
      }
    }
  }

  private void take(TopicPartition partition) throws IOException {
    if (writer == null) {
      writer = archive.open(feed);
    }
    long next = writer.comparableOffset(partition.partition());
    context.offset(partition, next);
    context.resume(partition);
    held.put(partition, next);
    LOG.info("{} continues at offset {} in {}", partition, next, archive.name());
  }

  /**
   * Whether the record's partition is held.
   *
   * @throws ConnectException if the record lies before what the archive held already: that partition is another one
   */
  boolean isHeld(SinkRecord taken) {
    TopicPartition partition = new TopicPartition(taken.originalTopic(), taken.originalKafkaPartition());
    Long from = held.get(partition);
    if (from != null && taken.originalKafkaOffset() < from) {
      throw new ConnectException(
          "the archive " + archive.name() + " holds " + partition + " up to offset " + from
              + ", but the topic goes on with " + taken.originalKafkaOffset()
              + ": it was recreated, so give it another archive");
    }
    return from != null;
  }

  ArchiveWriter writer() {
    return writer;
  }

  void rollIfDue() throws IOException {
    if (writer != null) {
      writer.rollIfDue(System.nanoTime());
    }
  }

  long heldBytes() {
    return writer == null ? 0 : writer.heldBytes();
  }

  int waiting() {
    return waiting.size();
  }

  /** The archive's end for each held partition. */
  Map<TopicPartition, OffsetAndMetadata> stored() {
    Map<TopicPartition, OffsetAndMetadata> stored = new HashMap<>();
    for (TopicPartition partition : held.keySet()) {
      try {
        stored.put(partition, new OffsetAndMetadata(writer.durableOffset(partition.partition())));
      } catch (IOException e) {
        LOG.debug("cannot read the end of {}", partition, e);
      }
    }
    return stored;
  }

  /** Stores buffered events, so that the next owners need not read them again, and releases the partitions. */
  void release(Collection<TopicPartition> revoked) {
    waiting.keySet().removeAll(revoked);
    if (writer == null) {
      return;
    }
    try {
      writer.roll();
      for (TopicPartition partition : revoked) {
        if (held.remove(partition) != null) {
          writer.release(partition.partition());
        }
      }
    } catch (IOException e) {
      LOG.warn("cannot store buffered events of {}, their next owner reads them again: {}", revoked, e.getMessage());
      held.keySet().removeAll(revoked);
      reopenIn(0);
    }
    if (held.isEmpty() && waiting.isEmpty()) {
      abandon();
    }
  }

  /** Closes the writer without storing its events; after that time the same partitions are taken again. */
  void reopenIn(long ms) {
    long then = System.nanoTime() + ms * 1_000_000;
    context.pause(held.keySet().toArray(TopicPartition[]::new));
    held.keySet().forEach(partition -> waiting.put(partition, then));
    abandon();
    nextLookNs = then;
  }

  /** Releases the locks without storing buffered events. */
  void abandon() {
    held.clear();
    if (writer == null) {
      return;
    }
    try {
      writer.abandon();
    } catch (IOException e) {
      LOG.warn("cannot close the archive {}: {}", archive.name(), e.getMessage());
    }
    writer = null;
  }
}
