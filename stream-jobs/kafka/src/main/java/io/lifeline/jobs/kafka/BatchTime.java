package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.ProducerTime;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.streams.processor.TimestampExtractor;

/** Arrival time of a batch: the broker's timestamp as it is, or a producer's timestamp within plausible limits. */
final class BatchTime implements TimestampExtractor {

  private final ProducerTime producers = new ProducerTime();

  long of(ConsumerRecord<?, ?> message) {
    return message.timestampType() == TimestampType.LOG_APPEND_TIME
        ? message.timestamp()
        : producers.believable(message.partition(), message.offset(), message.timestamp());
  }

  @Override
  public long extract(ConsumerRecord<Object, Object> message, long partitionTime) {
    return of(message);
  }
}
