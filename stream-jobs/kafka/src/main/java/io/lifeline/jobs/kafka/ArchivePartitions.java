package io.lifeline.jobs.kafka;

import io.lifeline.jobs.archive.ArchiveCollisionException;
import io.lifeline.jobs.archive.ArchiveUnavailableException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.core.Metrics;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes every partition of the share whose lock in the archive is free, and reads it from the archive's end. It
 * periodically retries partitions that another instance holds, and looks for new ones.
 *
 * <p>The kernel frees the locks of a process that dies, so another instance takes over at once. A consumer group would
 * wait for the dead member's session timeout, and would assign what the archive's locks decide anyway.
 */
final class ArchivePartitions {

  private static final Logger LOG = LoggerFactory.getLogger(ArchivePartitions.class);
  private static final long LOOK_INTERVAL_NS = 1_000_000_000;

  private final Consumer<?, ?> consumer;
  private final String topic;
  private final ArchiveShare share;
  private final ArchiveWriter archive;
  private final Metrics.Counter expired;
  private final Map<TopicPartition, Long> countedTo = new HashMap<>();
  private long nextLookNs = System.nanoTime();
  private double connections;
  private final Set<Integer> waiting = new HashSet<>();

  ArchivePartitions(
      Consumer<?, ?> consumer, String topic, ArchiveShare share, ArchiveWriter archive, Metrics metrics) {
    this.consumer = consumer;
    this.topic = topic;
    this.share = share;
    this.archive = archive;
    this.expired =
        metrics.counter(
            "lifeline_expired_total", "Messages that retention removed unread.", "task", ArchiveLoop.NAME);
  }

  boolean isEmpty() {
    return consumer.assignment().isEmpty();
  }

  /** Returns the first offset of each assigned partition that was not appended. */
  Map<Integer, Long> positions() throws IOException {
    Map<Integer, Long> positions = new HashMap<>();
    for (TopicPartition partition : consumer.assignment()) {
      positions.put(partition.partition(), archive.nextOffset(partition.partition()));
    }
    return positions;
  }

  /** Returns whether the assigned partitions have been read to their known ends. */
  boolean isAtEnd() {
    return consumer.assignment().stream().allMatch(partition -> consumer.currentLag(partition).orElse(1) == 0);
  }

  /**
   * Continues at the archive's ends if the consumer has connected to a broker since the last call; returns whether it
   * did, and then what it has polled is polled again. The broker may have lost its last messages and stored others.
   */
  boolean readAgainAfterConnecting() throws IOException {
    double now = connectionsMade();
    boolean hasConnected = now != connections;
    connections = now;
    if (hasConnected) {
      readAgain();
    }
    return hasConnected;
  }

  private double connectionsMade() {
    return consumer.metrics().values().stream()
        .filter(metric -> metric.metricName().name().equals("connection-creation-total")
            && metric.metricName().group().equals("consumer-metrics"))
        .mapToDouble(metric -> ((Number) metric.metricValue()).doubleValue()).sum();
  }

  /** Continues at the archive's ends, or where these partitions begin now. */
  void readAgain() throws IOException {
    seek(consumer.assignment());
  }

  /** Takes free partitions if the next look is due. */
  void takeFree() throws IOException {
    if (System.nanoTime() - nextLookNs < 0) {
      return;
    }
    nextLookNs = System.nanoTime() + LOOK_INTERVAL_NS;
    checkSources();
    Set<Integer> others = new TreeSet<>();
    for (PartitionInfo partition : consumer.partitionsFor(topic)) {
      if (share.has(partition.partition())) {
        others.add(partition.partition());
      }
    }
    consumer.assignment().forEach(mine -> others.remove(mine.partition()));
    List<TopicPartition> taken = new ArrayList<>();
    for (int partition : others) {
      if (isFree(partition)) {
        taken.add(new TopicPartition(topic, partition));
      }
    }
    if (!taken.isEmpty()) {
      read(taken);
    }
  }

  /** If the topic was recreated and is shorter now, nothing would be stored and so nothing would be checked. */
  private void checkSources() throws IOException {
    try {
      archive.checkSources();
    } catch (KafkaException e) {
      LOG.debug("the topic id is not available", e);
    }
  }

  private boolean isFree(int partition) throws IOException {
    try {
      archive.nextOffset(partition);
      return true;
    } catch (ArchiveCollisionException e) {
      return false;
    }
  }

  private void read(List<TopicPartition> taken) throws IOException {
    Set<TopicPartition> all = new HashSet<>(consumer.assignment());
    all.addAll(taken);
    consumer.assign(all);
    seek(taken);
  }

  private void seek(Collection<TopicPartition> partitions) throws IOException {
    Map<TopicPartition, Long> starts = consumer.beginningOffsets(partitions);
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    for (TopicPartition partition : partitions) {
      seek(partition, starts.get(partition), ends.get(partition));
    }
  }

  /**
   * Returns whether the partition ends before the archive's end and an operator has accepted that. It may never grow
   * again, so the others do not wait with it.
   */
  private boolean isWaiting(int partition, long end) throws IOException {
    try {
      archive.checkEnd(partition, end);
      return false;
    } catch (ArchiveUnavailableException e) {
      if (waiting.add(partition)) {
        LOG.warn("{}; the other partitions are read", e.getMessage());
      }
      return true;
    }
  }

  private void seek(TopicPartition partition, long start, long end) throws IOException {
    if (isWaiting(partition.partition(), end)) {
      consumer.seek(partition, Math.max(start, end)); // the archive skips what comes before its end
      return;
    }
    long next = archive.nextOffset(partition.partition());
    long counted = Math.max(next, countedTo.getOrDefault(partition, 0L));
    if (next > 0 && counted < start) {
      expired.add(start - counted);
      countedTo.put(partition, start);
    }
    // The archive compares the message before its end with its own.
    consumer.seek(partition, Math.max(archive.comparableOffset(partition.partition()), start));
  }
}
