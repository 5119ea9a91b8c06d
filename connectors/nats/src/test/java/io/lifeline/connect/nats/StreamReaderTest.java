package io.lifeline.connect.nats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.connect.nats.StreamReader.Received;
import io.lifeline.connect.nats.StreamReader.Start;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.api.RetentionPolicy;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.errors.ConnectException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Against a real server, without Connect. */
@Tag("system")
class StreamReaderTest {

  private static final Duration WAIT = Duration.ofSeconds(60);
  private static final Start FIRST = new Start(false, null);

  @TempDir Path directory;

  @Test
  void whatTheStreamGaveUpUnreadIsCountedWhereverItShows() throws Exception {
    NatsServer server = NatsServer.shared();
    try (Connection connection = server.connect();
        NatsLink link = link(server)) {
      Numbers.createStream(connection, "LOSING", "losing");
      Numbers.publish(connection, "losing", 0, 10);
      for (long sequence : new long[] {1, 2, 5, 6, 7}) {
        connection.jetStreamManagement().deleteMessage("LOSING", sequence);
      }
      SubjectCursor cursor = new SubjectCursor("LOSING", ">", 1, 0, FIRST);
      try (StreamReader reader = new StreamReader(link, "LOSING", 1 << 20, List.of(cursor))) {
        List<Long> sequences = new ArrayList<>();
        while (sequences.size() < 5) {
          Received received = reader.next(WAIT);
          sequences.add(received.delivery().streamSequence());
        }
        assertThat(sequences).containsExactly(3L, 4L, 8L, 9L, 10L);
        assertThat(cursor.expired()).isEqualTo(5);
      }
    }
  }

  @Test
  void aLongerStreamWithAnotherLastMessageIsNotContinued() throws Exception {
    NatsServer server = NatsServer.shared();
    try (Connection connection = server.connect();
        NatsLink link = link(server)) {
      Numbers.createStream(connection, "TAIL", "tail");
      Numbers.publish(connection, "tail", 0, 5);
      long lastTimeNs = readTo(link, 5, new SubjectCursor("TAIL", ">", 1, 0, FIRST));
      Numbers.publish(connection, "tail", 5, 6);
      readTo(link, 6, new SubjectCursor("TAIL", ">", 6, lastTimeNs, FIRST));
      connection.jetStreamManagement().deleteStream("TAIL");
      Numbers.createStream(connection, "TAIL", "tail");
      Numbers.publish(connection, "tail", 0, 8);
      assertThatThrownBy(() -> readTo(link, 8, new SubjectCursor("TAIL", ">", 6, lastTimeNs, FIRST)))
          .isInstanceOf(ConnectException.class)
          .hasMessageContaining("the message at offset 5 of > in stream TAIL is not the one that was read");
    }
  }

  /** Reads up to a sequence without a gap or a repetition; returns the time of the last message. */
  private static long readTo(NatsLink link, long last, SubjectCursor cursor) throws Exception {
    try (StreamReader reader = new StreamReader(link, "TAIL", 1 << 20, List.of(cursor))) {
      Received received = null;
      while (received == null || received.delivery().streamSequence() < last) {
        Received next = reader.next(WAIT);
        assertThat(next.delivery().streamSequence() > 5 || last == 5).isTrue();
        received = next;
      }
      return received.delivery().timeNs();
    }
  }

  /** It would drop what the task has read and Kafka does not have. */
  @Test
  void aStreamThatDropsWhatWasReadIsNotRead() throws Exception {
    NatsServer server = NatsServer.shared();
    try (Connection connection = server.connect();
        NatsLink link = link(server)) {
      StreamConfiguration.Builder work = StreamConfiguration.builder().name("WORK").subjects("work");
      connection.jetStreamManagement().addStream(work.retentionPolicy(RetentionPolicy.WorkQueue).build());
      SubjectCursor cursor = new SubjectCursor("WORK", ">", 0, 0, FIRST);
      try (StreamReader reader = new StreamReader(link, "WORK", 1 << 20, List.of(cursor))) {
        assertThatThrownBy(() -> reader.next(WAIT))
            .isInstanceOf(ConnectException.class)
            .hasMessageStartingWith("stream WORK drops messages once they were read (retention workqueue)");
      }
    }
  }

  /** The client gives up after the second refusal, and knows only the credentials that it began with. */
  @Test
  void credentialsThatAreRefusedLaterAreReadAgain() throws Exception {
    NatsServer open = NatsServer.start(directory.resolve("open"));
    String port = Integer.toString(URI.create(open.url()).getPort());
    Path context = directory.resolve("context.json");
    Files.writeString(context, "{\"url\": \"" + open.url() + "\"}");
    Map<String, String> settings = Map.of("nats.context", context.toString(), "nats.stream", "ANY");
    SubjectCursor cursor = new SubjectCursor("ANY", ">", 0, 0, FIRST);
    try (NatsLink link = new NatsLink(new SourceConfig(settings), "test");
        StreamReader reader = new StreamReader(link, "ANY", 1 << 20, List.of(cursor))) {
      Numbers.createStream(link.connection(), "ANY", "any");
      assertThat(reader.next(Duration.ofMillis(1))).isNull();
      open.kill();
      try (NatsServer closed = NatsServer.start(directory.resolve("closed"), "--auth", "--port", port)) {
        await(link, "cannot connect to NATS at .*: .*Authorization Violation.*");
        Files.writeString(context, "{\"url\": \"" + closed.url() + "\", \"user\": \"lifeline\", \"password\": \""
            + Files.readString(Path.of(closed.environment("LIFELINE_PASSWORD_FILE"))).strip() + "\"}");
        await(link, "connected");
        Numbers.createStream(link.connection(), "ANY", "any");
        Numbers.publish(link.connection(), "any", 0, 1);
        assertThat(reader.next(WAIT).delivery().streamSequence()).isEqualTo(1);
      }
    }
  }

  private static void await(NatsLink link, String wanted) throws InterruptedException {
    long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
    String outcome = "";
    while (!outcome.matches(wanted)) {
      assertThat(System.nanoTime()).as(outcome).isLessThan(deadline);
      try {
        link.connection();
        outcome = "connected";
      } catch (IOException e) {
        outcome = e.getMessage();
        Thread.sleep(20);
      }
    }
  }

  private static NatsLink link(NatsServer server) {
    return new NatsLink(new SourceConfig(Map.of("nats.url", server.url(), "nats.stream", "ANY")), "test");
  }
}
