package io.lifeline.nats;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.servers.NatsServer;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("system")
class TlsContextTest {

  @TempDir Path directory;

  @Test
  void takesACertificateForTheNameThatItWasMadeForOnly() throws Exception {
    try (NatsServer server = NatsServer.start(directory.resolve("broker"), "--tls")) {
      Path authority = Path.of(server.environment("LIFELINE_TLS_CA"));
      SSLContext context = TlsContext.of(Optional.of(authority), Optional.empty(), Optional.empty());
      URI broker = URI.create(server.url());
      handshake(context, broker, "localhost");
      assertThatThrownBy(() -> handshake(context, broker, "elsewhere.example"))
          .isInstanceOf(SSLHandshakeException.class)
          .hasMessageContaining("elsewhere.example");
    }
  }

  /** Connects as the client does: the server's first line is plain text, the rest is TLS. */
  private static void handshake(SSLContext context, URI broker, String name) throws IOException {
    try (Socket plain = new Socket(broker.getHost(), broker.getPort())) {
      while (plain.getInputStream().read() != '\n') {
        continue;
      }
      ((SSLSocket) context.getSocketFactory().createSocket(plain, name, broker.getPort(), true)).startHandshake();
    }
  }
}
