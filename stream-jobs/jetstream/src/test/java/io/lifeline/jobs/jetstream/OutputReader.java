package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.nats.client.Connection;
import io.nats.client.Message;
import io.nats.client.api.OrderedConsumerConfiguration;
import io.nats.client.api.StreamInfoOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** Reads messages published by jobs. */
final class OutputReader {

  private static final ObjectMapper JSON = new ObjectMapper();
  static final Duration PATIENCE = Duration.ofSeconds(120);

  private OutputReader() {}

  /** Returns all messages of a subject so far. */
  static List<Message> all(Connection connection, String subject) throws Exception {
    return all(connection, "LIFELINE_OUT", subject);
  }

  private static List<Message> all(Connection connection, String streamName, String subject) throws Exception {
    List<Message> messages = new ArrayList<>();
    var stream = connection.getStreamContext(streamName);
    // A timeout alone does not mean that there are no messages.
    if (stream.getStreamInfo(StreamInfoOptions.filterSubjects(subject)).getStreamState().getSubjects().isEmpty()) {
      return messages;
    }
    try (var consumer =
        stream.createOrderedConsumer(new OrderedConsumerConfiguration().filterSubject(subject)).iterate()) {
      long pending = 1;
      while (pending > 0) {
        Message message = consumer.nextMessage(PATIENCE);
        assertThat(message).as("the next message of " + subject).isNotNull();
        messages.add(message);
        pending = message.metaData().pendingCount();
      }
    }
    return messages;
  }

  /** Returns the newest value of each key, as a consumer of upserts sees it. */
  static Map<String, JsonNode> latest(Connection connection, String subject) throws Exception {
    return latest(connection, "LIFELINE_OUT", subject);
  }

  static Map<String, JsonNode> latest(Connection connection, String stream, String subject) throws Exception {
    Map<String, JsonNode> latest = new LinkedHashMap<>();
    for (Message message : all(connection, stream, subject)) {
      latest.put(message.getHeaders().getFirst("Lifeline-Key"), JSON.readTree(message.getData()));
    }
    return latest;
  }

  /** Waits until the newest values are as wanted, and returns them; on timeout returns them as they are. */
  static Map<String, JsonNode> await(
      Connection connection, String subject, Predicate<Map<String, JsonNode>> condition) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      Map<String, JsonNode> latest = latest(connection, subject);
      if (condition.test(latest) || System.nanoTime() > deadline) {
        return latest;
      }
      Thread.sleep(100);
    }
  }
}
