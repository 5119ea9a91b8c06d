package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.Upserts;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/** Reads upserts from their topic, from the beginning to the end at the time of the call. */
public final class KafkaUpserts implements Upserts {

  private static final Duration POLL = Duration.ofMillis(500);
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final JobConfig config;
  private final KafkaSettings settings;

  public KafkaUpserts(JobConfig config) {
    this.config = config;
    this.settings = new KafkaSettings(config);
  }

  @Override
  public Map<String, byte[]> latest(Destination destination) throws HostException {
    String topic = destination.topic(config.get(Keys.NAMES_PREFIX));
    try (Topics topics = new Topics(settings)) {
      topics.require(List.of(topic));
    }
    Map<String, byte[]> latest = new TreeMap<>();
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(settings.consumer(settings.applicationId() + "-reader"))) {
      List<TopicPartition> partitions =
          consumer.partitionsFor(topic).stream().map(info -> new TopicPartition(topic, info.partition())).toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      long heardNs = System.nanoTime();
      while (partitions.stream().anyMatch(partition -> consumer.position(partition) < ends.get(partition))) {
        ConsumerRecords<byte[], byte[]> messages = consumer.poll(POLL);
        if (!messages.isEmpty()) {
          heardNs = System.nanoTime();
        } else if (System.nanoTime() - heardNs > PATIENCE.toNanos()) {
          throw new HostException("the broker stopped sending the topic " + topic);
        }
        for (ConsumerRecord<byte[], byte[]> message : messages) {
          String key = new String(message.key(), StandardCharsets.UTF_8);
          if (message.value() == null) {
            latest.remove(key);
          } else {
            latest.put(key, message.value());
          }
        }
      }
      return latest;
    } catch (KafkaException e) {
      throw new HostException("cannot read the topic " + topic + ": " + e.getMessage(), e);
    }
  }
}
