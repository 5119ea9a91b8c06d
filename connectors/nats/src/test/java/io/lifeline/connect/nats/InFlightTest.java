package io.lifeline.connect.nats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.connect.nats.InFlight.NotNowException;
import io.lifeline.connect.nats.InFlight.Outcome;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.impl.Headers;
import java.time.Duration;
import org.apache.kafka.connect.sink.SinkRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("system")
class InFlightTest {

  private static final Duration LONGER_THAN_ANY_TEST = Duration.ofHours(1);

  private int stored;

  @Test
  @Timeout(180)
  void anAcknowledgementIsNotAwaitedOverAConnectionThatIsLost() throws Exception {
    NatsServer server = NatsServer.shared();
    try (Connection connection = server.connect()) {
      Numbers.createStream(connection, "CRASH", "crash");
      InFlight inFlight = new InFlight(connection, connection.jetStream(), LONGER_THAN_ANY_TEST, 10, outcome());
      inFlight.publish(message(0));
      inFlight.settle();
      server.pause();
      inFlight.publish(message(1));
      inFlight.publish(message(2));
      server.kill();
      assertThatThrownBy(inFlight::settle)
          .isInstanceOf(NotNowException.class)
          .hasMessage("the connection was lost before the acknowledgement came");
      assertThatThrownBy(inFlight::retry).isInstanceOf(NotNowException.class).hasMessage("the connection is lost");

      server.start();
      while (connection.getStatus() != Connection.Status.CONNECTED) {
        Thread.sleep(10);
      }
      inFlight.retry();
      inFlight.settle();
      assertThat(stored).isEqualTo(3);
      assertThat(connection.jetStreamManagement().getStreamInfo("CRASH").getStreamState().getMsgCount()).isEqualTo(3);

      server.pause();
      inFlight.publish(message(3));
      connection.close();
      assertThatThrownBy(inFlight::settle).isInstanceOf(NotNowException.class);
      server.resume();
      try (Connection another = server.connect()) {
        inFlight.moveTo(another, another.jetStream());
        inFlight.retry();
        inFlight.settle();
        assertThat(stored).isEqualTo(4);
      }
    }
  }

  private Outcome outcome() {
    return new Outcome() {
      @Override
      public void stored(OutgoingMessage message, boolean duplicate) {
        stored++;
      }

      @Override
      public void refused(OutgoingMessage message, String cause) {
        throw new AssertionError(cause);
      }
    };
  }

  private static OutgoingMessage message(long offset) {
    SinkRecord record = new SinkRecord("crash", 0, null, null, null, null, offset);
    return new OutgoingMessage(record, "crash", new Headers(), new byte[] {(byte) offset});
  }
}
