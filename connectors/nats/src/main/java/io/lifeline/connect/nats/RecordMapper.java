package io.lifeline.connect.nats;

import io.lifeline.codec.Fnv1a;
import io.nats.client.Message;
import io.nats.client.impl.Headers;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.internals.Topic;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.source.SourceRecord;

/** Converts a NATS message to a Kafka record: same bytes, same headers, the stream's timestamp. */
final class RecordMapper {

  /** Content of messages. */
  enum Content {
    ANY,
    BATCHES;

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final int MAX_TOPIC = 249;
  private static final String HEADER_KEY = "header:";
  private static final long NS_PER_MS = 1_000_000;

  private final Content content;
  private final String stream;
  private final String topic;
  private final boolean topicHasSubject;
  private final boolean keyIsSubject;
  private final String keyHeader;
  private final boolean copiesHeaders;
  private final boolean addsOrigin;

  /** Cache of the last subject's key and topic: subjects come in runs. */
  private String lastSubject;

  private byte[] lastKey;
  private String lastTopic;

  /** Cache of the last time, to avoid an object for each message. */
  private Long lastTimeMs = 0L;

  RecordMapper(SourceConfig config) {
    content = config.content();
    stream = config.stream();
    topic = config.topic().replace("${stream}", stream);
    topicHasSubject = topic.contains("${subject}");
    String key = config.getString(SourceConfig.KEY);
    keyIsSubject = key.equals("subject");
    keyHeader = key.startsWith(HEADER_KEY) ? key.substring(HEADER_KEY.length()) : null;
    copiesHeaders = !config.getString(SourceConfig.HEADERS).equals("none");
    addsOrigin = config.getString(SourceConfig.HEADERS).equals("all");
  }

  SourceRecord map(Message message, Delivery delivery, Map<String, String> partition) {
    String subject = message.getSubject();
    if (!subject.equals(lastSubject)) {
      lastTopic = topicOf(subject);
      lastKey = keyIsSubject ? subject.getBytes(StandardCharsets.UTF_8) : null;
      lastSubject = subject;
    }
    byte[] key = content == Content.BATCHES ? BatchIdentity.keyOf(message.getData()) : keyOf(message);
    return new StreamRecord(
        partition,
        delivery.streamSequence(),
        delivery.timeNs(),
        lastTopic,
        key,
        message.getData(),
        timeMs(delivery),
        headersOf(message, delivery));
  }

  private Long timeMs(Delivery delivery) {
    long timeMs = delivery.timeNs() / NS_PER_MS;
    if (timeMs != lastTimeMs) {
      lastTimeMs = timeMs;
    }
    return lastTimeMs;
  }

  /** Any publisher chooses subjects: one that is not a legal topic name must not stop the task. */
  private String topicOf(String subject) {
    String name = topicHasSubject ? topic.replace("${subject}", subject) : topic;
    return isTopic(name) ? name : legal(name);
  }

  private static boolean isTopic(String name) {
    try {
      Topic.validate(name);
      return true;
    } catch (InvalidTopicException e) {
      return false;
    }
  }

  /** The legal characters of the name, and a hash of the whole name. */
  private static String legal(String name) {
    String hash = HexFormat.of().toHexDigits(Fnv1a.hash(name.getBytes(StandardCharsets.UTF_8)));
    String kept = name.replaceAll("[^A-Za-z0-9._-]", "_");
    return kept.substring(0, Math.min(kept.length(), MAX_TOPIC - hash.length() - 1)) + "-" + hash;
  }

  private byte[] keyOf(Message message) {
    if (keyHeader == null) {
      return lastKey;
    }
    String value = message.hasHeaders() ? message.getHeaders().getFirst(keyHeader) : null;
    return value == null ? null : value.getBytes(StandardCharsets.UTF_8);
  }

  private ConnectHeaders headersOf(Message message, Delivery delivery) {
    boolean any = content == Content.ANY;
    boolean copies = message.hasHeaders() && (!any || copiesHeaders);
    if (!copies && !(any && addsOrigin)) {
      return null;
    }
    ConnectHeaders headers = new ConnectHeaders();
    if (copies && any) {
      message.getHeaders().forEach((name, values) -> values.forEach(value -> headers.addString(name, value)));
    } else if (copies) {
      copy(message.getHeaders(), BatchIdentity.HOST, headers);
      copy(message.getHeaders(), BatchIdentity.PROGRAM, headers);
    }
    if (any && addsOrigin) {
      headers.addString("nats.stream", stream);
      headers.addString("nats.subject", message.getSubject());
      headers.addString("nats.sequence", Long.toString(delivery.streamSequence()));
      headers.addString("nats.time", Long.toString(delivery.timeNs()));
    }
    return headers;
  }

  /** Kafka's headers are in lower case by custom, those of NATS are not (FORMAT.md, section 12). */
  private static void copy(Headers from, String name, ConnectHeaders to) {
    String value = from.getFirst(name);
    if (value != null) {
      to.addString(name.toLowerCase(Locale.ROOT), value);
    }
  }
}
