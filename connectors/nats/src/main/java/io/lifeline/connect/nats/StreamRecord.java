package io.lifeline.connect.nats;

import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.header.Headers;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * A message's record. A worker that delivers exactly once keeps the records of a transaction in a hash map until it is
 * committed, some 100,000 of them. By the hash of {@link SourceRecord}, which is that of all it holds, they would be
 * strewn over the table; by their sequences, neighbours are neighbours there.
 */
final class StreamRecord extends SourceRecord {

  private final long sequence;

  /** The message's bytes as they are; the key may be null. */
  StreamRecord(
      Map<String, String> partition,
      long sequence,
      String topic,
      byte[] key,
      byte[] value,
      Long timeMs,
      Headers headers) {
    super(
        partition,
        SourcePosition.offset(sequence),
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

  /** No task makes two of one message. */
  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(sequence);
  }
}
