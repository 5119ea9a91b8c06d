package io.lifeline.jobs.kafka;

import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.core.Metrics;
import java.io.IOException;
import java.util.Collection;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.common.TopicPartition;

/**
 * Lets partitions come and go: each is read on from where the archive ends, and published before it is given away.
 *
 * <p>The consumer would log what is thrown at it here and wrap it, so trouble is kept until {@link #check}.
 */
final class ArchivePartitions implements ConsumerRebalanceListener {

  private final Consumer<?, ?> consumer;
  private final ArchiveWriter archive;
  private final Metrics.Counter expired;
  private IOException trouble;

  ArchivePartitions(Consumer<?, ?> consumer, ArchiveWriter archive, Metrics metrics) {
    this.consumer = consumer;
    this.archive = archive;
    this.expired =
        metrics.counter(
            "lifeline_expired_total", "Messages that retention removed unread.", "task", ArchiveLoop.NAME);
  }

  /** Throws what went wrong while partitions came or went; to be asked before messages are taken. */
  void check() throws IOException {
    if (trouble != null) {
      throw trouble;
    }
  }

  @Override
  public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
    Map<TopicPartition, Long> starts = consumer.beginningOffsets(partitions);
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    try {
      for (TopicPartition partition : partitions) {
        seek(partition, starts.get(partition), ends.get(partition));
      }
    } catch (IOException e) {
      trouble = e;
    }
  }

  private void seek(TopicPartition partition, long start, long end) throws IOException {
    long next = archive.nextOffset(partition.partition());
    if (next > end) {
      throw new ArchiveException(
          "the archive holds " + partition + " up to offset " + next + ", but the topic ends at " + end
              + ": it was made anew, so give it another archive.dir");
    }
    if (next > 0 && next < start) {
      expired.add(start - next);
    }
    consumer.seek(partition, Math.max(next, start));
  }

  @Override
  public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
    try {
      if (!partitions.isEmpty()) {
        archive.roll();
      }
      release(partitions);
    } catch (IOException e) {
      trouble = e;
    }
  }

  /** Another instance may own them already, so nothing is published. */
  @Override
  public void onPartitionsLost(Collection<TopicPartition> partitions) {
    try {
      release(partitions);
    } catch (IOException e) {
      trouble = e;
    }
  }

  private void release(Collection<TopicPartition> partitions) throws IOException {
    for (TopicPartition partition : partitions) {
      archive.release(partition.partition());
    }
  }
}
