package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchReader;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.live.LiveMessages;
import io.lifeline.jobs.core.live.LiveStart;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the reader of a broker's live messages with a real nats-server. */
@Tag("system")
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class JetStreamLiveTest {

  private static final Duration STEP = Duration.ofMillis(100);
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

  @TempDir Path directory;

  private final Emitter emitter = new Emitter(1);

  @Test
  void readsFromATimeOnAndThenWhatArrives() throws Exception {
    NatsServer server = NatsServer.shared();
    try (Connection connection = server.connect()) {
      server.createStreams(connection);
      publish(connection, 2);
      long sinceMs = storedMs(connection, 2) + 1;
      awaitTime(sinceMs);
      publish(connection, 2);
      try (LiveMessages live = open(server, new LiveStart(sinceMs))) {
        assertThat(sequences(live, 2)).containsExactly(3L, 4L);
        publish(connection, 2);
        LiveMessages.Message message = next(live);
        assertThat(sequence(message)).isEqualTo(5);
        assertThat(message.brokerTimeMs()).isEqualTo(storedMs(connection, 5));
        assertThat(message.behind()).isBetween(0L, 1L);
        assertThat(sequence(next(live))).isEqualTo(6);
        assertThat(live.next(STEP)).isNull();
        assertThat(live.trouble()).isNull();
      }
    }
  }

  @Test
  void readsAllFromATimeBeforeTheFirstMessage() throws Exception {
    NatsServer server = NatsServer.shared();
    try (Connection connection = server.connect()) {
      server.createStreams(connection);
      publish(connection, 3);
      try (LiveMessages live = open(server, new LiveStart(0))) {
        assertThat(sequences(live, 2)).containsExactly(1L, 2L);
        assertThat(live.isCaughtUp()).as("one is left").isFalse();
        assertThat(sequences(live, 1)).containsExactly(3L);
        assertThat(live.isCaughtUp()).isTrue();
      }
    }
  }

  @Test
  void leavesOutWhatIsStoredWhenItStartsNow() throws Exception {
    NatsServer server = NatsServer.shared();
    try (Connection connection = server.connect()) {
      server.createStreams(connection);
      publish(connection, 3);
      for (LiveStart start : List.of(LiveStart.NOW, new LiveStart(System.currentTimeMillis() + 3_600_000))) {
        try (LiveMessages live = open(server, start)) {
          assertThat(live.next(STEP)).isNull();
          assertThat(live.isCaughtUp()).isTrue();
          long stored = connection.getStreamContext("LIFELINE").getStreamInfo().getStreamState().getLastSequence();
          publish(connection, 1);
          assertThat(sequence(next(live))).isEqualTo(stored + 1);
        }
      }
    }
  }

  @Test
  void goesOnAfterTheBrokerWasKilledAndStartedAgain() throws Exception {
    try (NatsServer server = NatsServer.start(directory)) {
      try (Connection connection = server.connect()) {
        server.createStreams(connection);
        publish(connection, 1);
      }
      try (LiveMessages live = open(server, new LiveStart(0))) {
        assertThat(sequence(next(live))).isEqualTo(1);
        server.kill();
        awaitTrouble(live, server.url() + "/lifeline.batches does not answer");
        server.start();
        try (Connection connection = server.connect()) {
          publish(connection, 2);
        }
        assertThat(sequences(live, 2)).containsExactly(2L, 3L);
        assertThat(live.trouble()).isNull();
      }
    }
  }

  @Test
  void waitsForABrokerThatIsStartedLater() throws Exception {
    NatsServer server = NatsServer.start(directory);
    try (server) {
      try (Connection connection = server.connect()) {
        server.createStreams(connection);
        publish(connection, 1);
      }
      server.kill();
      try (LiveMessages live = open(server, new LiveStart(0))) {
        awaitTrouble(live, "cannot connect to " + server.url() + "/lifeline.batches: is the broker running?");
        server.start();
        assertThat(sequence(next(live))).isEqualTo(1);
      }
    }
  }

  @Test
  void namesAMissingStreamAndReadsItOnceItIsMade() throws Exception {
    NatsServer server = NatsServer.shared();
    try (Connection connection = server.connect();
        LiveMessages live = open(server, LiveStart.NOW)) {
      awaitTrouble(live, "the stream LIFELINE does not exist; create it with lifeline-setup");
      server.createStreams(connection);
      while (live.next(STEP) != null || live.trouble() != null) {
        Thread.onSpinWait();
      }
      publish(connection, 1);
      assertThat(sequence(next(live))).isEqualTo(1);
    }
  }

  /** Only jobs need the output stream and the bucket. */
  @Test
  void needsOnlyTheStreamOfBatches() throws Exception {
    NatsServer server = NatsServer.shared();
    try (Connection connection = server.connect()) {
      server.createStreams(connection);
      connection.jetStreamManagement().deleteStream("LIFELINE_OUT");
      connection.keyValueManagement().delete("lifeline-jobs");
      publish(connection, 1);
      try (LiveMessages live = open(server, new LiveStart(0))) {
        assertThat(sequence(next(live))).isEqualTo(1);
      }
    }
  }

  @Test
  void startsOverWhenTheStreamWasMadeAnew() throws Exception {
    NatsServer server = NatsServer.shared();
    try (Connection connection = server.connect()) {
      server.createStreams(connection);
      publish(connection, 3);
      try (LiveMessages live = open(server, new LiveStart(0))) {
        assertThat(sequences(live, 3)).containsExactly(1L, 2L, 3L);
        connection.jetStreamManagement().deleteStream("LIFELINE");
        connection.jetStreamManagement().deleteStream("LIFELINE_OUT");
        connection.keyValueManagement().delete("lifeline-jobs");
        server.createStreams(connection);
        publish(connection, 2);
        assertThat(sequences(live, 2)).containsExactly(4L, 5L);
      }
    }
  }

  @Test
  void skipsWhatTheStreamNoLongerHas() throws Exception {
    try (NatsServer server = NatsServer.start(directory)) {
      try (Connection connection = server.connect()) {
        server.createStreams(connection);
        publish(connection, 1);
      }
      try (LiveMessages live = open(server, new LiveStart(0))) {
        assertThat(sequence(next(live))).isEqualTo(1);
        server.kill();
        awaitTrouble(live, server.url() + "/lifeline.batches does not answer");
        server.start();
        try (Connection connection = server.connect()) {
          publish(connection, 2);
          connection.jetStreamManagement().purgeStream("LIFELINE");
          publish(connection, 1);
        }
        long sequence;
        do { // the client may have read the others before they were removed
          sequence = sequence(next(live));
        } while (sequence < 4);
        assertThat(sequence).isEqualTo(4);
      }
    }
  }

  @Test
  void endsWhenItsThreadIsInterrupted() throws Exception {
    NatsServer server = NatsServer.shared();
    try (Connection connection = server.connect()) {
      server.createStreams(connection);
    }
    try (LiveMessages live = open(server, LiveStart.NOW)) {
      assertThat(live.next(STEP)).isNull();
      List<Throwable> thrown = new ArrayList<>();
      Thread reader = new Thread(() -> {
        try {
          live.next(Duration.ofMinutes(5));
        } catch (InterruptedException e) {
          thrown.add(e);
        }
      });
      reader.start();
      reader.interrupt();
      reader.join(TimeUnit.NANOSECONDS.toMillis(PATIENCE_NS));
      assertThat(thrown).hasSize(1);
    }
  }

  private static LiveMessages open(NatsServer server, LiveStart start) {
    return JetStreamLive.batches(JobConfig.load(null, Map.of(), Map.of("broker.url", server.url())), start);
  }

  private void publish(Connection connection, int batches) throws Exception {
    emitter.publish(connection.jetStream(), batches, false);
  }

  private static long storedMs(Connection connection, long sequence) throws Exception {
    return connection.jetStreamManagement().getMessage("LIFELINE", sequence).getTime().toInstant().toEpochMilli();
  }

  private static void awaitTime(long ms) {
    while (System.currentTimeMillis() < ms) {
      Thread.onSpinWait();
    }
  }

  private static void awaitTrouble(LiveMessages live, String trouble) throws Exception {
    long deadline = System.nanoTime() + PATIENCE_NS;
    while (!trouble.equals(live.trouble()) && System.nanoTime() < deadline) {
      assertThat(live.next(STEP)).isNull();
    }
    assertThat(live.trouble()).isEqualTo(trouble);
  }

  private static List<Long> sequences(LiveMessages live, int count) throws Exception {
    List<Long> sequences = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      sequences.add(sequence(next(live)));
    }
    return sequences;
  }

  private static long sequence(LiveMessages.Message message) throws Exception {
    return new BatchReader().read(message.data(), 0, message.data().length).sequence();
  }

  private static LiveMessages.Message next(LiveMessages live) throws Exception {
    long deadline = System.nanoTime() + PATIENCE_NS;
    LiveMessages.Message message = null;
    while (message == null) {
      assertThat(System.nanoTime()).as("nothing came; trouble: %s", live.trouble()).isLessThan(deadline);
      message = live.next(STEP);
    }
    return message;
  }
}
