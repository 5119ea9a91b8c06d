package io.lifeline.nats;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.Subscription;
import io.nats.client.api.DeliverPolicy;
import io.nats.client.api.OrderedConsumerConfiguration;
import io.nats.client.api.StreamConfiguration;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Any publisher chooses the bytes of a message's headers, and the server passes them on. */
@Tag("system")
class HostileHeadersTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  private static final List<String> HEADERS = List.of(
      "NATS/1.0\r\nLifeline-Program: z\u00c3\u00a4hler\r\nLifeline-Signature: abc\r\n\r\n",
      "NATS/1.0\r\nLifeline-Host: h\u00f6st\r\n\r\n",
      "NATS/1.0\r\nLif\u00c3\u00a9: x\r\n\r\n",
      "NATS/1.0\r\nA: \u0080\u0081\u00ff\u00fe\r\n\r\n",
      "NATS/1.0\r\nno colon\r\n\r\n",
      "NATS/1.0\r\n: no name\r\n\r\n",
      "NATS/1.0\r\nA B: space in the name\r\n\r\n",
      "NATS/1.0\r\nA: no end",
      "NATS/1.0\r\nA:    ",
      "NATS/1.0\r\nA: one\nline feed alone\r\n\r\n",
      "NATS/1.0\r\nA: one\rreturn alone\r\n\r\n",
      "NATS/1.0\r\n\r\nA: after the end\r\n\r\n",
      "NATS/1.0 409 Consumer Deleted\r\n\r\n",
      "NATS/1.0 100 Idle Heartbeat\r\n\r\n",
      "NATS/1.0 404 No Messages\r\nLifeline-Signature: abc\r\n\r\n",
      "NATS/1.0 abc\r\n\r\n",
      "NATS/1.0 \r\n\r\n",
      "NATS/1.0",
      "NATS/2.0\r\nA: b\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\r\n",
      "\r\n",
      "x",
      "",
      "NATS/1.0\r\nA: " + "y".repeat(60_000) + "\u00ff\r\n\r\n");

  @Test
  void doNotEndTheReading() throws Exception {
    NatsServer server = NatsServer.shared();
    ConnectionSettings settings = new ConnectionSettings(
        "test", List.of(URI.create(server.url()).getAuthority()), null, null, null, null, null, false, false, null,
        null, null, LONG);
    try (Connection connection = Nats.connect(settings.options(new ConnectionLog()))) {
      connection.jetStreamManagement().addStream(
          StreamConfiguration.builder().name("HOSTILE").subjects("hostile.*").build());
      Subscription core = connection.subscribe("hostile.1");
      connection.flush(LONG);
      publish(server);
      for (int number = 0; number < HEADERS.size(); number++) {
        Message message = core.nextMessage(LONG);
        assertThat(message).as("message %d", number).isNotNull();
        if (!message.isStatusMessage()) {
          assertThat(new String(message.getData(), ISO_8859_1)).isEqualTo("data " + number);
        }
      }
      var configuration = new OrderedConsumerConfiguration().deliverPolicy(DeliverPolicy.All);
      try (var stored = connection.getStreamContext("HOSTILE").createOrderedConsumer(configuration).iterate()) {
        for (int number = 0; number < HEADERS.size(); number++) {
          Message message = stored.nextMessage(LONG);
          assertThat(message).as("stored message %d", number).isNotNull();
          assertThat(new String(message.getData(), ISO_8859_1)).isEqualTo("data " + number);
          if (HEADERS.get(number).contains("Lifeline-Signature")) {
            assertThat(message.getHeaders().getFirst("Lifeline-Signature")).as("%d", number).isEqualTo("abc");
          }
        }
      }
      assertThat(connection.getStatistics().getReconnects()).isZero();
    }
  }

  /** The client refuses to send such headers. */
  private static void publish(NatsServer server) throws Exception {
    URI url = URI.create(server.url());
    try (Socket socket = new Socket(url.getHost(), url.getPort())) {
      StringBuilder all = new StringBuilder("CONNECT {\"verbose\":false,\"headers\":true}\r\n");
      for (int number = 0; number < HEADERS.size(); number++) {
        String headers = HEADERS.get(number);
        String data = "data " + number;
        all.append("HPUB hostile.1 ").append(headers.length()).append(' ').append(headers.length() + data.length())
            .append("\r\n").append(headers).append(data).append("\r\n");
      }
      all.append("PING\r\n");
      socket.getOutputStream().write(all.toString().getBytes(ISO_8859_1));
      InputStream in = socket.getInputStream();
      StringBuilder answer = new StringBuilder();
      while (!answer.toString().contains("PONG")) {
        int next = in.read();
        assertThat(next).as("after " + answer).isNotNegative();
        answer.append((char) next);
      }
      assertThat(answer.toString()).doesNotContain("-ERR");
    }
  }
}
