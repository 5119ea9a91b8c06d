package io.lifeline.servers;

import io.nats.client.Connection;
import io.nats.client.ErrorListener;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.api.KeyValueConfiguration;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/** A real nats-server of this test's own. */
public final class NatsServer extends PrivateBroker {

  /** Of a client for each answer: a file of a stream may have to wait for a slow disk. */
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private static NatsServer shared;

  private NatsServer(Path directory, String... options) {
    super("nats", directory, options);
  }

  /** The server that all tests of this process share, without streams; it ends with the process. */
  public static synchronized NatsServer shared() throws IOException, InterruptedException, JetStreamApiException {
    if (shared == null) {
      shared = start(Files.createTempDirectory("lifeline-nats-test"));
      NatsServer server = shared;
      Runtime.getRuntime().addShutdownHook(new Thread(server::remove));
    }
    if (!shared.isRunning()) { // a test that killed it has failed
      shared.start();
    }
    try (Connection connection = shared.connect()) {
      JetStreamManagement streams = connection.jetStreamManagement();
      for (String stream : streams.getStreamNames()) {
        streams.deleteStream(stream);
      }
    }
    return shared;
  }

  /** Starts a server with its data in the directory; it also ends when this test's process does. */
  public static NatsServer start(Path directory, String... options) throws IOException, InterruptedException {
    NatsServer server = new NatsServer(directory, options);
    server.start();
    return server;
  }

  /** What {@code lifeline-setup} makes. */
  public void createStreams(Connection connection) throws IOException, JetStreamApiException {
    connection.jetStreamManagement().addStream(stream("LIFELINE", "lifeline.batches.*"));
    createOutput(connection, "LIFELINE_OUT", "lifeline");
  }

  /** Where jobs publish under a prefix, and the bucket for their checkpoints. */
  public void createOutput(Connection connection, String name, String prefix)
      throws IOException, JetStreamApiException {
    String[] subjects =
        Stream.of("events.>", "derived.>", "summaries", "rejected", "ledger", "alerts", "partials")
            .map(subject -> prefix + "." + subject)
            .toArray(String[]::new);
    connection.jetStreamManagement().addStream(stream(name, subjects));
    connection
        .keyValueManagement()
        .create(KeyValueConfiguration.builder().name(prefix + "-jobs").storageType(StorageType.File).build());
  }

  public Connection connect() throws IOException, InterruptedException {
    return Nats.connect(
        new Options.Builder()
            .server(url())
            .connectionTimeout(TIMEOUT)
            .requestCleanupInterval(TIMEOUT) // after which a message that was published counts as lost
            .errorListener(new ErrorListener() {}) // a broker that is killed on purpose is no news
            .build());
  }

  private static StreamConfiguration stream(String name, String... subjects) {
    return StreamConfiguration.builder().name(name).subjects(subjects).storageType(StorageType.File).build();
  }
}
