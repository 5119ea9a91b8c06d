package io.lifeline.nats;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.Subscription;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The client's reader thread ends for good at an exception that it does not expect, and nothing reports that. */
@Tag("system")
class DeadReaderTest {

  /** Ends the thread that reads. Public because the client creates it by name. */
  public static final class Deadly extends GuardedDataPort {
    private static volatile boolean kills;

    @Override
    public int read(byte[] dst, int off, int len) throws IOException {
      int count = super.read(dst, off, len);
      if (kills) {
        kills = false;
        throw new IllegalStateException("only a test");
      }
      return count;
    }
  }

  @Test
  void pingsWithoutAnswerReplaceAConnectionThatNobodyReads() throws Exception {
    ConnectionLog log = new ConnectionLog();
    ConnectionSettings settings = new ConnectionSettings("test", List.of(NatsServer.shared().url()), null, null, null,
        null, null, false, false, null, null, null, Duration.ofSeconds(30));
    Options shipped = settings.options(log);
    assertThat(shipped.getPingInterval()).isLessThan(Duration.ofMinutes(1));
    assertThat(shipped.getMaxPingsOut()).isEqualTo(3);
    Options hasty = new Options.Builder(shipped).dataPortType(Deadly.class.getName())
        .pingInterval(Duration.ofMillis(200)).build();
    try (Connection connection = Nats.connect(hasty)) {
      Subscription subscription = connection.subscribe("dead.reader");
      Deadly.kills = true;
      connection.publish("dead.reader", new byte[] {1}); // wakes the reader
      long deadline = System.nanoTime() + Duration.ofSeconds(120).toNanos();
      while (log.connections() == 1) {
        assertThat(System.nanoTime()).as("in time: another connection").isLessThan(deadline);
        Thread.sleep(10);
      }
      Message message = null; // what is published before the new connection has subscribed again reaches nobody
      while (message == null) {
        assertThat(System.nanoTime()).as("in time: a message").isLessThan(deadline);
        connection.publish("dead.reader", new byte[] {2});
        message = subscription.nextMessage(Duration.ofSeconds(1));
      }
      assertThat(message.getData()).containsExactly(2);
    }
  }
}
