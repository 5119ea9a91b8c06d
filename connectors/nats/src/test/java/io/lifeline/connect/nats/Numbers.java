package io.lifeline.connect.nats;

import io.nats.client.Connection;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.api.PublishAck;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Messages that are numbers, so that one that is missing, doubled or out of order shows. */
final class Numbers {

  private Numbers() {}

  static void createStream(Connection connection, String name, String... subjects)
      throws IOException, JetStreamApiException {
    connection
        .jetStreamManagement()
        .addStream(StreamConfiguration.builder().name(name).subjects(subjects).storageType(StorageType.File).build());
  }

  /** Messages {@code from} to {@code to - 1}, their numbers being their payloads. */
  static void publish(Connection connection, String subject, int from, int to) throws Exception {
    JetStream jetStream = connection.jetStream();
    List<CompletableFuture<PublishAck>> answers = new ArrayList<>();
    for (int i = from; i < to; i++) {
      answers.add(jetStream.publishAsync(subject, Integer.toString(i).getBytes(StandardCharsets.US_ASCII)));
    }
    for (CompletableFuture<PublishAck> answer : answers) {
      answer.get(60, TimeUnit.SECONDS);
    }
  }

  /** The numbers of a subject in the order of their records; subjects are keys, so each lies in one partition. */
  static List<Integer> of(List<ConsumerRecord<byte[], byte[]>> records, String subject) {
    return records.stream()
        .filter(record -> subject.equals(new String(record.key(), StandardCharsets.UTF_8)))
        .map(record -> Integer.parseInt(new String(record.value(), StandardCharsets.US_ASCII)))
        .toList();
  }
}
