package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.lifeline.jobs.core.live.LiveMessages;
import io.lifeline.jobs.core.live.LiveStart;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;

/** Reads a topic without a group and without commits. */
public final class KafkaLive implements LiveMessages {
  private static final Duration LOOK_UP = Duration.ofSeconds(10);
  /** How long a silent broker is waited for before that is reported. */
  private static final Duration SILENCE = Duration.ofSeconds(2);
  private static final long LOOK_INTERVAL_NS = Duration.ofSeconds(1).toNanos();

  private final KafkaSettings settings;
  private final LiveStart start;
  private final String topic;
  private final Queue<ConsumerRecord<byte[], byte[]>> received = new ArrayDeque<>();
  /** Where to read on, also after the client was replaced. */
  private final Map<TopicPartition, Long> next = new HashMap<>();
  /** Of the partitions when reading began; null until they are known. */
  private Map<TopicPartition, Long> ends;
  private KafkaConsumer<byte[], byte[]> consumer;
  private long lookedNs = System.nanoTime();
  private volatile String trouble;

  private KafkaLive(KafkaSettings settings, LiveStart start, String topic) {
    this.settings = settings;
    this.start = start;
    this.topic = topic;
  }

  public static KafkaLive batches(JobConfig config, LiveStart start) {
    KafkaSettings settings = new KafkaSettings(config);
    return new KafkaLive(settings, start, settings.batches());
  }

  public static KafkaLive published(JobConfig config, LiveStart start, Destination destination) {
    return new KafkaLive(new KafkaSettings(config), start, destination.topic(config.get(Keys.NAMES_PREFIX)));
  }

  @Override
  public Message next(Duration timeout) throws InterruptedException {
    try {
      if (consumer == null) {
        open();
      }
      if (received.isEmpty()) {
        takeNewPartitions();
        consumer.poll(timeout).forEach(received::add);
        trouble = received.isEmpty() ? silence() : null;
      }
      ConsumerRecord<byte[], byte[]> record = received.poll();
      if (record == null) {
        return null;
      }
      next.put(new TopicPartition(record.topic(), record.partition()), record.offset() + 1);
      byte[] value = record.value() == null ? new byte[0] : record.value();
      return new Message(value, record.timestamp(), received.size());
    } catch (InterruptException e) {
      Thread.interrupted();
      throw new InterruptedException();
    } catch (KafkaException e) {
      trouble = BrokerTrouble.explain(settings.shownUrl(), e).getMessage();
      close();
      Thread.sleep(timeout.toMillis());
      return null;
    }
  }

  private void open() {
    Map<String, Object> properties = new HashMap<>(settings.consumer(settings.applicationId() + "-live"));
    properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest"); // of what retention took meanwhile
    properties.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, Long.toString(LOOK_UP.toMillis()));
    consumer = new KafkaConsumer<>(properties);
    List<PartitionInfo> found = consumer.partitionsFor(topic);
    if (found.isEmpty()) {
      throw new KafkaException("there is no topic " + topic + "; create it with lifeline-setup");
    }
    List<TopicPartition> partitions =
        found.stream().map(info -> new TopicPartition(info.topic(), info.partition())).toList();
    consumer.assign(partitions);
    ends = ends == null ? consumer.endOffsets(partitions) : ends;
    first(partitions).forEach(next::putIfAbsent);
    partitions.forEach(partition -> consumer.seek(partition, next.get(partition)));
  }

  /**
   * Everything in a partition that was added meanwhile is new. What the client knows of the topic is at most 5 s old.
   * Called only while nothing waits to be handed on.
   */
  private void takeNewPartitions() {
    if (System.nanoTime() - lookedNs < LOOK_INTERVAL_NS) {
      return;
    }
    lookedNs = System.nanoTime();
    List<PartitionInfo> found = consumer.partitionsFor(topic);
    if (found.size() > consumer.assignment().size()) {
      List<TopicPartition> partitions =
          found.stream().map(info -> new TopicPartition(info.topic(), info.partition())).toList();
      partitions.forEach(partition -> next.putIfAbsent(partition, 0L));
      consumer.assign(partitions);
      partitions.forEach(partition -> consumer.seek(partition, next.get(partition)));
    }
  }

  /** Returns the offset of the first message to read in each partition. */
  private Map<TopicPartition, Long> first(List<TopicPartition> partitions) {
    Map<TopicPartition, Long> offsets = new HashMap<>(consumer.endOffsets(partitions));
    if (!start.isNow()) {
      Map<TopicPartition, Long> times = new HashMap<>();
      partitions.forEach(partition -> times.put(partition, Math.max(0, start.sinceMs())));
      for (Map.Entry<TopicPartition, OffsetAndTimestamp> found : consumer.offsetsForTimes(times).entrySet()) {
        if (found.getValue() != null) {
          offsets.put(found.getKey(), found.getValue().offset());
        }
      }
    }
    return offsets;
  }

  /** Returns why nothing comes: the client waits silently for a broker that is away. */
  private String silence() {
    try {
      consumer.endOffsets(consumer.assignment(), SILENCE);
      return null;
    } catch (KafkaException e) {
      return settings.shownUrl() + " does not answer";
    }
  }

  @Override
  public String trouble() {
    return trouble;
  }

  /** Control records of transactions take offsets, so the client's position counts once none of it waits here. */
  @Override
  public boolean isCaughtUp() {
    return consumer != null && received.isEmpty()
        && ends.entrySet().stream().allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
  }

  @Override
  public void close() {
    if (consumer != null) {
      consumer.close(CloseOptions.timeout(Duration.ZERO));
      consumer = null;
    }
  }
}
