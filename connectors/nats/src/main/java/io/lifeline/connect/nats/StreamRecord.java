package io.lifeline.connect.nats;

import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.header.Headers;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * A message's record. An exactly-once worker keeps the records of a transaction, some 100,000, in a hash map. Hashing
 * by sequence keeps neighbours together there, and avoids hashing the content as {@link SourceRecord} does.
 */
final class StreamRecord extends SourceRecord {

  private final long sequence;

  /** The message's bytes as they are; the key may be null. */
  StreamRecord(
      Map<String, String> partition,
      long sequence,
      long timeNs,
      String topic,
      byte[] key,
      byte[] value,
      Long timeMs,
      Headers headers) {
    super(
        partition,
        SourcePosition.offset(sequence, timeNs),
        topic,
        null,
        key == null ? null : Schema.BYTES_SCHEMA,
        key,
        Schema.BYTES_SCHEMA,
        value,
        timeMs,
        headers);
    this.sequence = sequence;
  }

  /** A task creates one record for each message. */
  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(sequence);
  }
}
