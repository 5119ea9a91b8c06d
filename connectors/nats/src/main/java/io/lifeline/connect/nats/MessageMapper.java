package io.lifeline.connect.nats;

import io.lifeline.connect.nats.RecordMapper.Content;
import io.nats.client.impl.Headers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.connect.data.Values;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.sink.SinkRecord;

/** Converts a Kafka record to a NATS message: same bytes, same headers. */
final class MessageMapper {

  private static final String MESSAGE_ID = "Nats-Msg-Id";
  private static final String EXPECTED_STREAM = "Nats-Expected-Stream";

  /** Headers that the broker interprets: only the connector may set them. */
  private static final String RESERVED = "nats-";

  private final Content content;
  private final String connector;
  private final String subject;
  private final boolean subjectIsTemplate;
  private final String messageId;
  private final String stream;

  MessageMapper(SinkConfig config, String connector) {
    this.content = config.content();
    this.connector = connector;
    this.subject = config.subject();
    this.subjectIsTemplate = subject.contains("${");
    this.messageId = config.getString(SinkConfig.MESSAGE_ID);
    this.stream = config.getString(SinkConfig.STREAM);
  }

  /**
   * The message for a record.
   *
   * @throws DataException if the record cannot be converted; the message omits the record's content
   */
  OutgoingMessage map(SinkRecord record) {
    byte[] body = bytes(record.value(), "value");
    Headers headers = new Headers();
    if (stream != null) {
      headers.put(EXPECTED_STREAM, stream);
    }
    if (content == Content.BATCHES) {
      return batch(record, body, headers);
    }
    for (Header header : record.headers()) {
      if (!header.key().regionMatches(true, 0, RESERVED, 0, RESERVED.length())) {
        add(headers, header.key(), header);
      }
    }
    String id = idOf(record);
    if (id != null) {
      headers.put(MESSAGE_ID, id);
    }
    return new OutgoingMessage(record, subjectOf(record), headers, body);
  }

  /** As an emitter publishes it (FORMAT.md, section 12). */
  private OutgoingMessage batch(SinkRecord record, byte[] body, Headers headers) {
    BatchIdentity identity = BatchIdentity.of(body);
    if (identity == null) {
      throw new DataException("the record's value does not start as a batch of Lifeline does");
    }
    headers.put(MESSAGE_ID, identity.messageId());
    copy(record, BatchIdentity.HOST, headers);
    copy(record, BatchIdentity.PROGRAM, headers);
    return new OutgoingMessage(record, subjectOf(record) + "." + identity.subjectNumber(), headers, body);
  }

  private static void copy(SinkRecord record, String name, Headers headers) {
    for (Header header : record.headers()) {
      if (header.key().equalsIgnoreCase(name) && header.value() != null) {
        headers.add(name, text(header).replaceAll("[^ -~]", "?"));
      }
    }
  }

  private static void add(Headers headers, String name, Header header) {
    try {
      headers.add(name, header.value() == null ? "" : text(header));
    } catch (IllegalArgumentException e) {
      throw new DataException(
          "a header of the record cannot be one of NATS, whose names and values are ASCII without line ends");
    }
  }

  private static String text(Header header) {
    return header.value() instanceof byte[] bytes
        ? new String(bytes, StandardCharsets.UTF_8)
        : Values.convertToString(header.schema(), header.value());
  }

  private String idOf(SinkRecord record) {
    switch (messageId) {
      case SinkConfig.ID_OFFSET:
        return connector + "-" + record.originalTopic() + "-" + record.originalKafkaPartition() + "-"
            + record.originalKafkaOffset();
      case SinkConfig.ID_HEADER:
        Header header = record.headers().lastWithName(MESSAGE_ID);
        return header == null || header.value() == null ? null : text(header);
      default:
        return null;
    }
  }

  private String subjectOf(SinkRecord record) {
    if (!subjectIsTemplate) {
      return subject;
    }
    String filled =
        subject.replace("${topic}", record.topic()).replace("${partition}", record.kafkaPartition().toString());
    if (filled.contains("${key}")) {
      byte[] key = bytes(record.key(), "key");
      filled = filled.replace("${key}", key == null ? "" : new String(key, StandardCharsets.UTF_8));
    }
    if (!Subjects.isSubject(filled)) {
      throw new DataException("the record's topic and key do not make a subject of " + subject);
    }
    return filled;
  }

  private static byte[] bytes(Object value, String what) {
    if (value == null || value instanceof byte[]) {
      return (byte[]) value;
    }
    if (value instanceof ByteBuffer buffer) {
      byte[] copy = new byte[buffer.remaining()];
      buffer.duplicate().get(copy);
      return copy;
    }
    if (value instanceof String text) {
      return text.getBytes(StandardCharsets.UTF_8);
    }
    throw new DataException(
        "the record's " + what + " is neither bytes nor text: use ByteArrayConverter, or a converter that writes text");
  }
}
