package io.lifeline.connect.nats;

import io.nats.client.impl.Headers;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.sink.SinkRecord;

/** A message to publish, with its record. The body may be null. */
record OutgoingMessage(SinkRecord record, String subject, Headers headers, byte[] body) {

  /** The record's original position, before transformations. */
  TopicPartition partition() {
    return new TopicPartition(record.originalTopic(), record.originalKafkaPartition());
  }

  long offset() {
    return record.originalKafkaOffset();
  }

  /** Size that the broker's max_payload limits. */
  long size() {
    return (body == null ? 0 : body.length) + (headers.isEmpty() ? 0 : headers.serializedLength());
  }
}
