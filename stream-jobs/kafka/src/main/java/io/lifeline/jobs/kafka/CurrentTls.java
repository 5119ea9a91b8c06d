package io.lifeline.jobs.kafka;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.SSLEngine;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.auth.SslEngineFactory;
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS of a client, with the files as they are when it connects: certificates are renewed while programs run.
 *
 * <p>Public because the client creates it by name.
 */
public final class CurrentTls implements SslEngineFactory {

  /** Settings with the paths of PEM files. */
  static final String AUTHORITY = "lifeline.tls.ca";

  static final String CERTIFICATE = "lifeline.tls.cert";
  static final String KEY = "lifeline.tls.key";

  private static final Logger LOG = LoggerFactory.getLogger(CurrentTls.class);

  /** What Kafka's settings call the contents of each file. */
  private static final Map<String, String> CONTENTS =
      Map.of(
          AUTHORITY, SslConfigs.SSL_TRUSTSTORE_CERTIFICATES_CONFIG,
          CERTIFICATE, SslConfigs.SSL_KEYSTORE_CERTIFICATE_CHAIN_CONFIG,
          KEY, SslConfigs.SSL_KEYSTORE_KEY_CONFIG);

  private final Map<String, Object> settings = new HashMap<>();
  private Map<String, String> texts;
  private DefaultSslEngineFactory current;

  @Override
  public synchronized void configure(Map<String, ?> configured) {
    settings.putAll(configured);
    try {
      use(read());
    } catch (IOException e) {
      throw new KafkaException("a TLS file cannot be read: " + e.getMessage(), e);
    }
  }

  private Map<String, String> read() throws IOException {
    Map<String, String> found = new HashMap<>();
    for (String name : CONTENTS.keySet()) {
      if (settings.get(name) != null) {
        found.put(name, Files.readString(Path.of((String) settings.get(name))));
      }
    }
    return found;
  }

  private void use(Map<String, String> found) {
    Map<String, Object> all = new HashMap<>(settings);
    found.forEach((name, text) -> all.put(CONTENTS.get(name), new Password(text)));
    DefaultSslEngineFactory made = new DefaultSslEngineFactory();
    made.configure(all);
    current = made;
    texts = found;
  }

  /** Keeps the former files while they are being replaced: the broker then decides. */
  private synchronized DefaultSslEngineFactory renewed() {
    try {
      Map<String, String> found = read();
      if (!found.equals(texts)) {
        use(found);
      }
    } catch (IOException | KafkaException e) {
      LOG.warn("the TLS files cannot be used now, so the former ones count: {}", e.getMessage());
    }
    return current;
  }

  @Override
  public SSLEngine createClientSslEngine(String host, int port, String identification) {
    return renewed().createClientSslEngine(host, port, identification);
  }

  @Override
  public SSLEngine createServerSslEngine(String host, int port) {
    throw new UnsupportedOperationException("these TLS files are a client's: a server needs a factory of its own");
  }

  @Override
  public boolean shouldBeRebuilt(Map<String, Object> configs) {
    return false;
  }

  @Override
  public Set<String> reconfigurableConfigs() {
    return Set.of();
  }

  @Override
  public synchronized KeyStore keystore() {
    return current.keystore();
  }

  @Override
  public synchronized KeyStore truststore() {
    return current.truststore();
  }

  @Override
  public void close() {
    // Nothing is open between connections.
  }
}
