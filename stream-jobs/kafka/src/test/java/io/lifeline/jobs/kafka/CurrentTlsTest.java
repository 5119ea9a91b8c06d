package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CurrentTlsTest {

  @TempDir Path directory;

  /** Files of a self-signed certificate, which is its own authority. */
  private record Pair(Path certificate, Path key) {}

  private Pair pair(String name) throws Exception {
    Pair pair = new Pair(directory.resolve(name + ".pem"), directory.resolve(name + ".key"));
    Process openssl =
        new ProcessBuilder(List.of("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-subj", "/CN=" + name, "-out", pair.certificate().toString(), "-keyout", pair.key().toString()))
            .redirectErrorStream(true).redirectOutput(directory.resolve("openssl.log").toFile()).start();
    assertThat(openssl.waitFor()).isZero();
    return pair;
  }

  private static Map<String, Object> pem() {
    Map<String, Object> settings = new HashMap<>();
    settings.put(SslConfigs.SSL_PROTOCOL_CONFIG, "TLSv1.3");
    settings.put(SslConfigs.SSL_ENABLED_PROTOCOLS_CONFIG, List.of("TLSv1.3"));
    settings.put(SslConfigs.SSL_CIPHER_SUITES_CONFIG, List.of());
    settings.put(SslConfigs.SSL_KEYSTORE_TYPE_CONFIG, "PEM");
    settings.put(SslConfigs.SSL_TRUSTSTORE_TYPE_CONFIG, "PEM");
    settings.put(SslConfigs.SSL_KEYMANAGER_ALGORITHM_CONFIG, SslConfigs.DEFAULT_SSL_KEYMANGER_ALGORITHM);
    settings.put(SslConfigs.SSL_TRUSTMANAGER_ALGORITHM_CONFIG, SslConfigs.DEFAULT_SSL_TRUSTMANAGER_ALGORITHM);
    return settings;
  }

  @Test
  void replacedFilesCountFromTheNextConnectionOn() throws Exception {
    Pair broker = pair("broker");
    Pair former = pair("former");
    Pair next = pair("next");
    Map<String, Object> server = pem();
    server.put("ssl.client.auth", "required");
    server.put(SslConfigs.SSL_KEYSTORE_CERTIFICATE_CHAIN_CONFIG, new Password(Files.readString(broker.certificate())));
    server.put(SslConfigs.SSL_KEYSTORE_KEY_CONFIG, new Password(Files.readString(broker.key())));
    server.put(SslConfigs.SSL_TRUSTSTORE_CERTIFICATES_CONFIG, new Password(Files.readString(next.certificate())));
    Path authority = Files.copy(former.certificate(), directory.resolve("authority"));
    Path certificate = Files.copy(former.certificate(), directory.resolve("certificate"));
    Path key = Files.copy(former.key(), directory.resolve("key"));
    Map<String, Object> client = pem();
    client.put(CurrentTls.AUTHORITY, authority.toString());
    client.put(CurrentTls.CERTIFICATE, certificate.toString());
    client.put(CurrentTls.KEY, key.toString());
    try (DefaultSslEngineFactory acceptor = new DefaultSslEngineFactory(); CurrentTls tls = new CurrentTls()) {
      acceptor.configure(server);
      tls.configure(client);
      assertThatThrownBy(() -> connect(tls, acceptor)).as("another authority").isInstanceOf(SSLException.class);
      Files.writeString(authority, Files.readString(broker.certificate()));
      assertThatThrownBy(() -> connect(tls, acceptor)).as("another certificate").isInstanceOf(SSLException.class);
      Files.writeString(certificate, Files.readString(next.certificate()));
      Files.writeString(key, Files.readString(next.key()));
      connect(tls, acceptor);
      Files.writeString(authority, "being replaced");
      connect(tls, acceptor);
    }
  }

  @Test
  void filesThatCannotBeUsedAreRefusedAtTheStart() throws Exception {
    Map<String, Object> client = pem();
    client.put(CurrentTls.AUTHORITY, Files.writeString(directory.resolve("authority"), "nothing").toString());
    try (CurrentTls tls = new CurrentTls()) {
      assertThatThrownBy(() -> tls.configure(client)).isInstanceOf(KafkaException.class);
    }
  }

  private static void connect(CurrentTls tls, DefaultSslEngineFactory acceptor) throws SSLException {
    SSLEngine client = tls.createClientSslEngine("broker", 9093, "");
    SSLEngine server = acceptor.createServerSslEngine("client", 1);
    ByteBuffer toServer = ByteBuffer.allocate(1 << 16);
    ByteBuffer toClient = ByteBuffer.allocate(1 << 16);
    client.beginHandshake();
    server.beginHandshake();
    for (int step = 0; step < 100; step++) {
      advance(client, toServer, toClient);
      advance(server, toClient, toServer);
    }
    assertThat(client.getHandshakeStatus()).isEqualTo(HandshakeStatus.NOT_HANDSHAKING);
    assertThat(server.getHandshakeStatus()).isEqualTo(HandshakeStatus.NOT_HANDSHAKING);
  }

  private static void advance(SSLEngine engine, ByteBuffer out, ByteBuffer in) throws SSLException {
    switch (engine.getHandshakeStatus()) {
      case NEED_TASK -> engine.getDelegatedTask().run();
      case NEED_WRAP -> engine.wrap(ByteBuffer.allocate(0), out);
      default -> {
        in.flip();
        engine.unwrap(in, ByteBuffer.allocate(1 << 16));
        in.compact();
      }
    }
  }
}
