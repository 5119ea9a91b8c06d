package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.ProducerTime;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.streams.processor.TimestampExtractor;

/** When a batch came: the broker's word is taken as it is, a producer's only as far as it can be believed. */
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
