package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.JetStreamManagement;
import io.nats.client.Message;
import io.nats.client.api.StreamConfiguration;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Kills filters and pairs between sending results and the checkpoint, on a broker whose duplicate window ends before
 * the job restarts: so duplicates are stored, and must be identical byte for byte.
 */
@Tag("system")
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class KilledFilterTest {

  private static final EventType START = EventType.named("copy.start").field("id", FieldType.U64).build();
  private static final EventType END =
      EventType.named("copy.end").field("id", FieldType.U64).field("nbytes", FieldType.U64, "B").build();
  private static final int KILLS = 2;
  private static final int EMITTERS = 4;
  private static final int BATCHES_PER_ROUND = 40;
  private static final int OPERATIONS = 10;
  private static final int LAST = (KILLS + 1) * BATCHES_PER_ROUND - 1;

  @Test
  void whatIsSentAgainIsWhatWasSentAndNothingIsMissing() throws Exception {
    NatsServer server = NatsServer.shared();
    try (Connection connection = server.connect()) {
      server.createStreams(connection);
      JetStreamManagement management = connection.jetStreamManagement();
      StreamConfiguration results = management.getStreamInfo("LIFELINE_OUT").getConfiguration();
      management.updateStream(StreamConfiguration.builder(results).duplicateWindow(Duration.ofMillis(100)).build());
      for (int round = 0; round < KILLS; round++) {
        long before = results(management);
        JobProcess job = startJob(server);
        publish(connection, round);
        while (results(management) < before + 2 * BATCHES_PER_ROUND) {
          assertThat(job.isAlive()).as("the job runs until it is killed").isTrue();
          Thread.sleep(5);
        }
        job.kill();
      }
      try (JobProcess job = startJob(server)) {
        publish(connection, KILLS);
        long repeats =
            check(connection, "durations", LAST * OPERATIONS)
                + check(connection, "large", (LAST - 1) * OPERATIONS);
        assertThat(repeats).as("a kill came before a checkpoint").isPositive();
        assertThat(job.isAlive()).isTrue();
      }
    }
  }

  private static long results(JetStreamManagement management) throws Exception {
    return management.getStreamInfo("LIFELINE_OUT").getStreamState().getLastSequence();
  }

  /**
   * Checks that all sequences and events are present and that duplicates are identical; returns the number of
   * duplicates.
   */
  private static long check(Connection connection, String stream, long events) throws Exception {
    String subject = "lifeline.derived." + stream + ".*";
    List<Message> messages = OutputReader.all(connection, subject);
    while (finals(messages) < EMITTERS) {
      Thread.sleep(100);
      messages = OutputReader.all(connection, subject);
    }
    Map<String, byte[]> batches = new HashMap<>();
    for (Message message : messages) {
      byte[] before = batches.putIfAbsent(message.getHeaders().getFirst("Nats-Msg-Id"), message.getData());
      assertThat(before == null ? message.getData() : before).as("wrong books: one id, two contents")
          .isEqualTo(message.getData());
    }
    Map<Incarnation, Long> eventCounts = new HashMap<>();
    Map<Incarnation, Long> batchCounts = new HashMap<>();
    Map<Incarnation, Long> newest = new HashMap<>();
    for (byte[] batch : batches.values()) {
      BatchReader reader = new BatchReader().read(batch, 0, batch.length);
      eventCounts.merge(reader.incarnation(), (long) reader.eventCount(), Long::sum);
      batchCounts.merge(reader.incarnation(), 1L, Long::sum);
      newest.merge(reader.incarnation(), reader.sequence(), Math::max);
    }
    assertThat(eventCounts).as("wrong books: emitters").hasSize(EMITTERS);
    assertThat(eventCounts.values()).as("wrong books: events of each emitter").containsOnly(events);
    assertThat(newest).as("wrong books: sequences without a gap").isEqualTo(batchCounts);
    return messages.size() - batches.size();
  }

  private static long finals(List<Message> messages) throws Exception {
    long finals = 0;
    for (Message message : messages) {
      finals += new BatchReader().read(message.getData(), 0, message.getData().length).isFinal() ? 1 : 0;
    }
    return finals;
  }

  private static void publish(Connection connection, int round) throws Exception {
    for (int number = round * BATCHES_PER_ROUND; number < (round + 1) * BATCHES_PER_ROUND; number++) {
      for (int emitter = 0; emitter < EMITTERS; emitter++) {
        connection.jetStream().publish("lifeline.batches." + emitter, batch(emitter, number));
      }
    }
  }

  /**
   * Returns a batch that ends the operations started by the previous batch and starts as many; a batch covers a second.
   */
  private static byte[] batch(int emitter, int number) {
    long second = Emitter.START_NS + number * 1_000_000_000L;
    BatchWriter writer =
        new BatchWriter()
            .incarnation(new Incarnation(3, emitter))
            .sequence(number + 1)
            .host("host-a")
            .program("copy")
            .ticks(second, 1_000_000_000, true)
            .thread(7)
            .finalBatch(number == LAST);
    for (long id = (number - 1L) * OPERATIONS; number > 0 && id < number * OPERATIONS; id++) {
      writer.event(END, second, id, id);
    }
    for (long id = (long) number * OPERATIONS; number < LAST && id < (number + 1) * OPERATIONS; id++) {
      writer.event(START, second, id);
    }
    return writer.toByteArray();
  }

  private JobProcess startJob(NatsServer server) throws Exception {
    return JobProcess.start(
        Path.of("target/killed-filter.log"),
        "broker.url=" + server.url(),
        "jobs=filter,pair",
        "filter.large=type == \"copy.end\" && nbytes >= 10",
        "checkpoint.interval=10s",
        "checkpoint.batches=70");
  }
}
