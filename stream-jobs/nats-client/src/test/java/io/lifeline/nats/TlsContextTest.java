package io.lifeline.nats;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.servers.NatsServer;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
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

      Path own = directory.resolve("ca.pem");
      new ProcessBuilder("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
          "-subj", "/CN=another", "-keyout", directory.resolve("key").toString(), "-out", own.toString())
          .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor();
      SSLContext rotated = TlsContext.of(Optional.of(own), Optional.empty(), Optional.empty());
      assertThatThrownBy(() -> handshake(rotated, broker, "localhost")).isInstanceOf(SSLHandshakeException.class);
      Files.copy(authority, own, StandardCopyOption.REPLACE_EXISTING);
      handshake(rotated, broker, "localhost");
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
