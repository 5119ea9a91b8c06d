package io.lifeline.connect.nats;

import io.nats.client.impl.Headers;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.sink.SinkRecord;

/** A message on its way out, with the record that it comes from. The body may be null. */
record OutgoingMessage(SinkRecord record, String subject, Headers headers, byte[] body) {

  /** Where Kafka has the record, whatever transformations made of its topic. */
  TopicPartition partition() {
    return new TopicPartition(record.originalTopic(), record.originalKafkaPartition());
  }

  long offset() {
    return record.originalKafkaOffset();
  }

  /** What counts against the broker's max_payload. */
  long size() {
    return (body == null ? 0 : body.length) + (headers.isEmpty() ? 0 : headers.serializedLength());
  }
}
