package io.lifeline.jobs.cli.tail;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.Incarnation;
import io.lifeline.servers.KafkaServer;
import io.lifeline.servers.PrivateBroker;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Each test has a topic of its own. */
@Tag("system")
class TailOnKafkaTest extends TailOnBroker {
  private KafkaServer server;
  private KafkaProducer<String, byte[]> producer;
  private String topic;

  @BeforeEach
  void createTopic(TestInfo test) throws Exception {
    server = KafkaServer.shared();
    topic = test.getTestMethod().orElseThrow().getName();
    server.createTopic(topic, 3);
    producer = new KafkaProducer<>(Map.of("bootstrap.servers", server.bootstrapServers()), new StringSerializer(),
        new ByteArraySerializer());
  }

  @AfterEach
  void endAll() {
    endStarted();
    producer.close();
  }

  @Override
  PrivateBroker broker() {
    return server;
  }

  @Override
  String url() {
    return server.url() + "/" + topic;
  }

  @Override
  void publish(int emitter, byte[] batch) throws Exception {
    producer.send(new ProducerRecord<>(topic, new Incarnation(emitter, emitter).toString(), batch)).get();
  }

  @Test
  void namesAMissingTopic() throws Exception {
    topic = "missing";
    assertThat(tail().errorReader().readLine())
        .isEqualTo(url() + ": there is no topic missing; create it with lifeline-setup (waiting)");
  }
}
