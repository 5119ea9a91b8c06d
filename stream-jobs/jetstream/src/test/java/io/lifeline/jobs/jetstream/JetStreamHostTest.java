package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.parquet.ManifestCounts;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.servers.NatsServer;
import io.lifeline.servers.PostgresServer;
import io.nats.client.Connection;
import io.nats.client.JetStream;
import io.nats.client.JetStreamManagement;
import io.nats.client.KeyValue;
import io.nats.client.PurgeOptions;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.impl.Headers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("system")
class JetStreamHostTest {

  @TempDir Path directory;

  private NatsServer server;
  private Connection connection;
  private JetStream jetStream;

  @BeforeEach
  void startServer() throws Exception {
    server = NatsServer.shared();
    connection = server.connect();
    server.createStreams(connection);
    jetStream = connection.jetStream();
  }

  @AfterEach
  void stopServer() throws Exception {
    connection.close();
  }

  @Test
  void summarisesWhatTwoEmittersPublishedAndAbsorbsRepeats() throws Exception {
    Emitter first = new Emitter(1);
    Emitter second = new Emitter(2);
    byte[] repeated = first.nextBatch(false);
    jetStream.publish("lifeline.batches.1", repeated);
    jetStream.publish("lifeline.batches.1", repeated);
    first.publish(jetStream, 29, true);
    second.publish(jetStream, 30, true);
    try (JetStreamHost host = start("jobs", "summarise", "summarise.fields", "disk.*:nbytes")) {
      Map<String, JsonNode> summaries =
          OutputReader.await(connection, "lifeline.summaries", map -> map.size() == 3 && totalCount(map) == 600);
      assertThat(totalCount(summaries)).isEqualTo(600);
      JsonNode window = summaries.values().iterator().next();
      assertThat(window.get("type").textValue()).isEqualTo("disk.read.end");
      assertThat(window.get("field").textValue()).isEqualTo("nbytes");
      assertThat(window.get("unit").textValue()).isEqualTo("B");
      assertThat(window.get("min").intValue()).isZero();
      assertThat(window.get("max").intValue()).isEqualTo(99);
      assertThat(window.get("mean").doubleValue()).isEqualTo(49.5);
      assertThat(host.health()).containsEntry("summarise", "running");
    }
  }

  @Test
  void aSummaryWaitsForNoCheckpoint() throws Exception {
    Emitter emitter = new Emitter(1);
    for (String groups : List.of("1", "2")) {
      try (JetStreamHost host =
          start("jobs", "summarise", "summarise.fields", "*:nbytes", "summarise.window", "1s", "nats.groups", groups,
              "checkpoint.interval", "1h")) {
        emitter.publish(jetStream, 20, false);
        int closed = (int) emitter.events() - 10;
        Map<String, JsonNode> summaries =
            OutputReader.await(connection, "lifeline.summaries", map -> totalCount(map) == closed);
        assertThat(totalCount(summaries)).isEqualTo(closed);
        assertThat(host.health().values()).containsOnly("running");
      }
    }
  }

  @Test
  void rejectsCorruptAndConflictingBatchesWithTheirPositionAndGoesOn() throws Exception {
    byte[] corrupt = new Emitter(1).nextBatch(false);
    corrupt[corrupt.length - 1] ^= 1;
    jetStream.publish("lifeline.batches.1", corrupt);
    jetStream.publish("lifeline.batches.1", "garbage".getBytes());
    Emitter emitter = new Emitter(2);
    emitter.publish(jetStream, 10, false);
    Emitter impostor = new Emitter(2);
    jetStream.publish("lifeline.batches.2", impostor.nextBatch(true));
    emitter.publish(jetStream, 10, true);
    try (JetStreamHost host = start("jobs", "summarise,archive", "summarise.fields", "*:nbytes")) {
      Map<String, JsonNode> rejected = OutputReader.await(connection, "lifeline.rejected", map -> map.size() == 3);
      assertThat(rejected.values()).extracting(value -> value.get("code").textValue())
          .containsExactlyInAnyOrder("bad_crc", "truncated", "conflict");
      assertThat(rejected.values()).extracting(value -> value.get("offset").intValue())
          .containsExactlyInAnyOrder(1, 2, 13);
      Map<String, JsonNode> summaries =
          OutputReader.await(connection, "lifeline.summaries", map -> totalCount(map) == 200);
      assertThat(totalCount(summaries)).isEqualTo(200);
      assertThat(OutputReader.all(connection, "lifeline.rejected")).as("each is told once").hasSize(3);
    }
  }

  @Test
  void aBatchThatIsCopiedToEverySubjectCountsOnce() throws Exception {
    Emitter emitter = new Emitter(1);
    byte[] batch = emitter.nextBatch(false);
    for (int subject = 0; subject < NatsSettings.SUBJECTS; subject++) {
      jetStream.publish("lifeline.batches." + subject, batch);
    }
    emitter.publish(jetStream, 10, true);
    try (JetStreamHost host = start("jobs", "summarise", "summarise.fields", "*:nbytes", "nats.groups", "4")) {
      Map<String, JsonNode> rejected = OutputReader.await(connection, "lifeline.rejected", map -> map.size() == 12);
      assertThat(rejected.values()).extracting(value -> value.get("code").textValue()).containsOnly("misplaced");
      Map<String, JsonNode> summaries =
          OutputReader.await(connection, "lifeline.summaries", map -> totalCount(map) == emitter.events());
      assertThat(totalCount(summaries)).isEqualTo((int) emitter.events());
      assertThat(host.health().values()).containsOnly("running");
    }
  }

  /** Checksums that are no longer in memory are in the bucket, not in every checkpoint. */
  @Test
  void aConflictIsOneHoweverLateItComesAlsoAfterARestart() throws Exception {
    Emitter emitter = new Emitter(2);
    emitter.publish(jetStream, 400, false);
    for (String when : List.of("0-1", "0-2")) {
      try (JetStreamHost host = start("jobs", "ledger", "ledger.interval", "100ms")) {
        OutputReader.await(
            connection, "lifeline.ledger",
            map -> map.values().stream().anyMatch(balance -> balance.get("batches").intValue() == 400));
        Emitter impostor = new Emitter(2);
        for (int i = 0; i < (when.equals("0-1") ? 1 : 2); i++) {
          byte[] batch = impostor.nextBatch(i == (when.equals("0-1") ? 0 : 1));
          jetStream.publish("lifeline.batches.2", batch);
        }
        OutputReader.await(
            connection, "lifeline.rejected",
            map -> map.values().stream().anyMatch(value -> value.get("batch").textValue().endsWith(when)));
      }
    }
    assertThat(OutputReader.await(connection, "lifeline.rejected", map -> map.size() == 2).values())
        .extracting(value -> value.get("code").textValue()).containsOnly("conflict");
    assertThat(connection.keyValue("lifeline-jobs").keys("ledger.crc.>")).hasSizeGreaterThan(3);
  }

  /** What is known of it is neither in memory nor in the checkpoint. */
  @Test
  void batchesOfARouteThatHasEndedAreKnownAfterARestart() throws Exception {
    String[] settings = {"jobs", "ledger", "ledger.interval", "100ms", "checkpoint.interval", "100ms"};
    Emitter emitter = new Emitter(2);
    emitter.publish(jetStream, 20, true);
    try (JetStreamHost host = start(settings)) {
      awaitKeys("ledger.retired.dedup.>");
      assertThat(host.health()).containsEntry("ledger", "running");
    }
    new Emitter(2).publish(jetStream, 19, false);
    jetStream.publish("lifeline.batches.2", new Emitter(2).nextBatch(true));
    emitter.publish(jetStream, 1, true);
    try (JetStreamHost host = start(settings)) {
      Map<String, JsonNode> ledger = OutputReader.await(
          connection, "lifeline.ledger",
          map -> map.values().stream().anyMatch(balance -> balance.get("batches").intValue() == 21));
      JsonNode balance = ledger.values().iterator().next();
      assertThat(balance.get("batches").intValue()).as("wrong books: %s", balance).isEqualTo(21);
      assertThat(balance.get("repeated_batches").intValue()).as("wrong books: %s", balance).isEqualTo(19);
      assertThat(balance.get("received").intValue()).as("wrong books: %s", balance).isEqualTo(210);
      assertThat(balance.get("missing").intValue()).as("wrong books: %s", balance).isZero();
      assertThat(OutputReader.await(connection, "lifeline.rejected", map -> map.size() == 1).values())
          .extracting(value -> value.get("code").textValue()).containsExactly("conflict");
      assertThat(host.health()).containsEntry("ledger", "running");
    }
  }

  private void awaitKeys(String pattern) throws Exception {
    KeyValue bucket = connection.keyValue("lifeline-jobs");
    long deadline = System.nanoTime() + OutputReader.PATIENCE.toNanos();
    while (bucket.keys(pattern).isEmpty() && System.nanoTime() < deadline) {
      Thread.sleep(20);
    }
    assertThat(bucket.keys(pattern)).isNotEmpty();
  }

  /** Two prefixes on one server are two installations; neither is a standby of the other. */
  @Test
  void eachPrefixHasABucketOfItsOwn() throws Exception {
    assertThatThrownBy(() -> start("jobs", "ledger", "names.prefix", "other.one"))
        .isInstanceOf(HostException.class)
        .hasMessageContaining("the key-value bucket other_one-jobs does not exist");
  }

  /** What does not change in a checkpoint is not written again, so it would be gone. */
  @Test
  void aBucketWhoseValuesExpireIsRefused() throws Exception {
    server.createOutput(connection, "SHORT_OUT", "short");
    JetStreamManagement management = connection.jetStreamManagement();
    StreamConfiguration bucket = management.getStreamInfo("KV_short-jobs").getConfiguration();
    management.updateStream(StreamConfiguration.builder(bucket).maxAge(Duration.ofDays(7)).build());
    assertThatThrownBy(() -> start("jobs", "ledger", "names.prefix", "short", "nats.output.stream", "SHORT_OUT"))
        .isInstanceOf(HostException.class)
        .hasMessage("the key-value bucket short-jobs removes values after 604800 s, and checkpoints with them: "
            + "turn that off with 'nats stream edit KV_short-jobs --max-age=0'");
  }

  /** Earlier releases used one default bucket for all prefixes. */
  @Test
  void checkpointsInTheBucketOfAnEarlierReleaseAreNotPassedBy() throws Exception {
    server.createOutput(connection, "OTHER_OUT", "other");
    String[] settings = {"jobs", "ledger", "names.prefix", "other", "nats.output.stream", "OTHER_OUT"};
    connection.keyValue("lifeline-jobs").put("ledger.checkpoint", new byte[] {99});
    assertThatThrownBy(() -> start(settings))
        .isInstanceOf(HostException.class)
        .hasMessageStartingWith("the checkpoints in the bucket lifeline-jobs cannot be looked at: a later release ");
    connection.keyValue("lifeline-jobs").purge("ledger.checkpoint");
    try (JetStreamHost earlier = start(with(settings, "nats.bucket", "lifeline-jobs"))) {
      assertThat(earlier.health()).containsEntry("ledger", "running");
    }
    assertThatThrownBy(() -> start(settings))
        .isInstanceOf(HostException.class)
        .hasMessageContaining("the checkpoint of ledger is in the bucket lifeline-jobs")
        .hasMessageContaining("and other-jobs has none: set nats.bucket=lifeline-jobs to go on with it, or"
            + " nats.bucket=other-jobs to start over");
    try (JetStreamHost anew = start(with(settings, "nats.bucket", "other-jobs"))) {
      assertThat(anew.health()).containsEntry("ledger", "running");
    }
    try (JetStreamHost later = start(settings)) {
      assertThat(later.health()).as("it has one of its own now").containsEntry("ledger", "running");
    }
  }

  private static String[] with(String[] settings, String... more) {
    return Stream.concat(Stream.of(settings), Stream.of(more)).toArray(String[]::new);
  }

  /** Servers may accept messages larger than the usual read-ahead, from other clients than emitters. */
  @Test
  void aMessageOfAnySizeThatTheServerTakesStopsNobody() throws Exception {
    try (NatsServer large = NatsServer.start(directory.resolve("server"))) {
      Path settings = directory.resolve("server").resolve("nats.conf");
      Files.writeString(settings, Files.readString(settings).replace("max_payload: 1MB", "max_payload: 32MB"));
      new ProcessBuilder("kill", "-HUP", large.environment("LIFELINE_BROKER_PID")).start().waitFor();
      try (Connection toLarge = awaitPayload(large, 32 << 20)) {
        large.createStreams(toLarge);
        toLarge.jetStream().publish("lifeline.batches.1", new byte[30 << 20]);
        new Emitter(1).publish(toLarge.jetStream(), 5, true);
        try (JetStreamHost host = start("broker.url", large.url(), "jobs", "ledger", "ledger.interval", "100ms")) {
          Map<String, JsonNode> ledger =
              OutputReader.await(
                  toLarge, "lifeline.ledger",
                  map -> map.values().stream().anyMatch(balance -> balance.get("batches").intValue() == 5));
          assertThat(ledger.values()).as("what stands behind it").isNotEmpty();
          assertThat(host.health()).containsEntry("ledger", "running");
        }
      }
    }
  }

  /** A server takes a moment to reload its settings. */
  private static Connection awaitPayload(NatsServer server, long bytes) throws Exception {
    long deadline = System.nanoTime() + OutputReader.PATIENCE.toNanos();
    while (true) {
      Connection connection = server.connect();
      if (connection.getMaxPayload() == bytes) {
        return connection;
      }
      connection.close();
      assertThat(System.nanoTime()).as("the server has read its settings again").isLessThan(deadline);
    }
  }

  @Test
  void takesOnlyBatchesThatAreSigned(@TempDir Path directory) throws Exception {
    Path key = Files.writeString(directory.resolve("key"), "5e".repeat(32));
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    Emitter emitter = new Emitter(2);
    byte[] signed = emitter.nextBatch(false);
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(HexFormat.of().parseHex("5e".repeat(32)), "HmacSHA256"));
    String signature = HexFormat.of().formatHex(mac.doFinal(signed));
    jetStream.publish("lifeline.batches.2", new Headers().put("Lifeline-Signature", signature), signed);
    byte[] unsigned = emitter.nextBatch(true);
    jetStream.publish("lifeline.batches.2", unsigned);
    jetStream.publish("lifeline.batches.2", new Headers().put("Lifeline-Signature", signature), unsigned);
    String archive = directory.resolve("archive").toString();
    try (JetStreamHost host =
        start("jobs", "ledger,archive", "ledger.interval", "100ms", "signature.keys", key.toString(), "archive.dir",
            archive, "archive.roll.interval", "100ms")) {
      Map<String, JsonNode> rejected = OutputReader.await(connection, "lifeline.rejected", map -> map.size() == 2);
      assertThat(rejected.values()).allMatch(rejection -> rejection.get("code").textValue().equals("unsigned"));
      OutputReader.await(
          connection, "lifeline.ledger",
          map -> map.values().stream().anyMatch(
              balance -> balance.get("batches").intValue() == 1 && balance.get("archived").intValue() > 0));
    }
  }

  @Test
  void writesDecodedEventsOfAllowedTypesOnly() throws Exception {
    new Emitter(3).publish(jetStream, 2, true);
    try (JetStreamHost host = start("jobs", "decode", "decode.types", "disk.read.*", "nats.groups", "4")) {
      Map<String, JsonNode> events =
          OutputReader.await(
              connection,
              "lifeline.events.disk.read.end",
              map -> map.values().stream().anyMatch(event -> event.get("nbytes").intValue() == 19));
      assertThat(OutputReader.all(connection, "lifeline.events.disk.read.end")).hasSize(20);
      JsonNode event = events.values().iterator().next();
      assertThat(event.get("ts").textValue()).isEqualTo("2023-11-14T22:13:21.900000000Z");
      assertThat(event.get("nbytes").intValue()).isEqualTo(19);
      assertThat(event.get("event_index").intValue()).isEqualTo(9);
      assertThat(host.health()).hasSize(4);
    }
  }

  @Test
  void theBooksOfAFilteredStreamCloseInAHostThatReadsIt() throws Exception {
    new Emitter(3).publish(jetStream, 20, true);
    String url = server.url() + "/lifeline.derived.large?stream=LIFELINE_OUT";
    Path archive = directory.resolve("large");
    try (JetStreamHost first = start("jobs", "filter", "filter.large", "nbytes >= 155", "nats.groups", "2");
        JetStreamHost second =
            start("jobs", "archive,ledger", "broker.url", url, "archive.dir", archive.toString(),
                "archive.roll.interval", "1s", "ledger.interval", "200ms")) {
      Map<String, JsonNode> ledger =
          OutputReader.await(
              connection,
              "lifeline.ledger",
              map -> map.values().stream().anyMatch(v -> isFinal(v, 45)));
      assertThat(ledger).hasSize(1);
      JsonNode balance = ledger.values().iterator().next();
      assertThat(balance.get("route_name").textValue()).isEqualTo("large");
      assertThat(balance.get("state").textValue()).isEqualTo("final");
      assertThat(balance.get("emitted").intValue()).isEqualTo(45);
      assertThat(balance.get("missing").intValue()).as("wrong books: %s", balance).isZero();
      assertThat(balance.get("missing_batches").intValue()).as("wrong books: %s", balance).isZero();
      assertThat(balance.get("below_threshold").intValue()).isEqualTo(155);
      assertThat(balance.get("events_in").intValue()).isEqualTo(200);
      assertThat(second.health()).containsEntry("ledger-of-large", "running");
    }
  }

  @Test
  void pairsAreReadAsAStreamOfDurationsWhoseBooksClose() throws Exception {
    Emitter emitter = new Emitter(9);
    for (int i = 0; i < 20; i++) {
      jetStream.publish("lifeline.batches.9", emitter.operations("disk.read", 10));
    }
    String url = server.url() + "/lifeline.derived.durations?stream=LIFELINE_OUT";
    Path archive = directory.resolve("durations");
    try (JetStreamHost first = start("jobs", "pair", "nats.groups", "2");
        JetStreamHost second =
            start("jobs", "archive,ledger", "broker.url", url, "archive.dir", archive.toString(),
                "archive.roll.interval", "1s", "ledger.interval", "200ms")) {
      Map<String, JsonNode> ledger =
          OutputReader.await(
              connection,
              "lifeline.ledger",
              map -> map.values().stream().anyMatch(v -> isArchived(v, 200) && v.get("emitted").asInt() == 200));
      assertThat(ledger).hasSize(1);
      JsonNode balance = ledger.values().iterator().next();
      assertThat(balance.get("route_name").textValue()).isEqualTo("durations");
      assertThat(balance.get("emitted").intValue()).isEqualTo(200);
      assertThat(balance.get("archived").intValue()).isEqualTo(200);
      assertThat(balance.get("folded").intValue()).isEqualTo(400);
      assertThat(balance.get("events_in").intValue()).isEqualTo(400);
      assertThat(balance.get("missing").intValue()).as("wrong books: %s", balance).isZero();
      assertThat(first.health()).containsOnlyKeys("pair-0-of-2", "pair-1-of-2");
      assertThat(second.health()).containsEntry("ledger-of-durations", "running");
    }
  }

  /** A stream that takes both detects duplicates by ID alone. */
  @Test
  void summariesUnderAnotherPrefixAreNoRepeats() throws Exception {
    JetStreamManagement management = connection.jetStreamManagement();
    StreamConfiguration results = management.getStreamInfo("LIFELINE_OUT").getConfiguration();
    management.updateStream(StreamConfiguration.builder(results).addSubjects("large.summaries").build());
    new Emitter(3).publish(jetStream, 20, true);
    String url = server.url() + "/lifeline.derived.large?stream=LIFELINE_OUT";
    try (JetStreamHost first =
            start("jobs", "filter,summarise", "filter.large", "nbytes >= 0", "summarise.fields", "*:nbytes");
        JetStreamHost second =
            start("jobs", "summarise", "broker.url", url, "names.prefix", "large", "nats.bucket", "lifeline-jobs",
                "summarise.fields", "*:nbytes")) {
      for (String subject : List.of("lifeline.summaries", "large.summaries")) {
        Map<String, JsonNode> summaries = OutputReader.await(connection, subject, map -> totalCount(map) == 200);
        assertThat(totalCount(summaries)).as(subject).isEqualTo(200);
      }
      assertThat(first.health()).containsEntry("summarise", "running");
      assertThat(second.health()).containsEntry("summarise-of-large", "running");
    }
  }

  /** Even if no more input arrives to trigger another checkpoint. */
  @Test
  void resultsThatTheBrokerDidNotTakeAreSentAgain() throws Exception {
    JetStreamManagement management = connection.jetStreamManagement();
    StreamConfiguration results = management.getStreamInfo("LIFELINE_OUT").getConfiguration();
    Metrics metrics = new Metrics();
    try (JetStreamHost host =
        start(metrics, "jobs", "summarise", "summarise.fields", "*:nbytes", "checkpoint.interval", "100ms")) {
      management.deleteStream("LIFELINE_OUT");
      new Emitter(3).publish(jetStream, 20, true);
      awaitMetric(metrics, "lifeline_next_position{task=\"summarise\"} 21\n");
      awaitRetry(host, "summarise");
      management.addStream(results);
      Map<String, JsonNode> summaries =
          OutputReader.await(connection, "lifeline.summaries", map -> totalCount(map) == 200);
      assertThat(totalCount(summaries)).isEqualTo(200);
      assertThat(host.health()).containsKey("summarise");
    }
  }

  /** A task that is stuck, or between two attempts, learns of nothing new. */
  @Test
  void theBrokerIsAskedForTheLag() throws Exception {
    Emitter emitter = new Emitter(1);
    emitter.publish(jetStream, 10, false);
    try (Broker broker = Broker.connect(new NatsSettings(config()))) {
      StreamBounds bounds = StreamBounds.of(broker.batches());
      BatchStream stream =
          BatchStream.open(broker, broker.batches(), bounds.made(), new String[] {"lifeline.batches.>"}, 1, 0);
      for (int i = 1; i <= 2; i++) {
        assertThat(stream.next(OutputReader.PATIENCE).position().offset()).isEqualTo(i);
      }
      awaitUnread(stream, 8);
      emitter.publish(jetStream, 5, false);
      awaitUnread(stream, 13);
      stream.close();
      emitter.publish(jetStream, 1, true);
      awaitUnread(stream, 14);
    }
  }

  /** The broker may count a message a moment after it has acknowledged it. */
  private static void awaitUnread(BatchStream stream, long messages) throws Exception {
    long deadline = System.nanoTime() + OutputReader.PATIENCE.toNanos();
    while (stream.unread() != messages && System.nanoTime() < deadline) {
      Thread.sleep(20);
    }
    assertThat(stream.unread()).isEqualTo(messages);
  }

  /** The groups' parts are numbered from the start again, while the earlier ones are still stored. */
  @Test
  void whenTheCheckpointsAreRemovedSummariesOfGroupsStartOver() throws Exception {
    String[] settings = {"jobs", "summarise", "summarise.fields", "*:nbytes", "nats.groups", "2"};
    new Emitter(1).publish(jetStream, 20, true);
    try (JetStreamHost host = start(settings)) {
      OutputReader.await(connection, "lifeline.summaries", map -> totalCount(map) == 200);
      assertThat(host.health()).hasSize(3);
    }
    JetStreamManagement management = connection.jetStreamManagement();
    StreamConfiguration bucket = management.getStreamInfo("KV_lifeline-jobs").getConfiguration();
    management.deleteStream("KV_lifeline-jobs");
    management.addStream(bucket);
    management.purgeStream("LIFELINE_OUT", PurgeOptions.subject("lifeline.summaries"));
    new Emitter(2).publish(jetStream, 20, true);
    Metrics metrics = new Metrics();
    try (JetStreamHost host = start(metrics, settings)) {
      Map<String, JsonNode> summaries =
          OutputReader.await(connection, "lifeline.summaries", map -> totalCount(map) >= 400);
      assertThat(totalCount(summaries)).isEqualTo(400);
      assertThat(metrics.text()).contains("lifeline_summarise_repeated_shares_total 0");
      assertThat(host.health()).hasSize(3);
    }
  }

  /** Revisions are counted from the start again, and back again go on where they ended. */
  @Test
  void summariesOfAnotherNumberOfGroupsAreNoRepeats() throws Exception {
    int emitters = 0;
    for (String groups : List.of("1", "2", "1")) {
      new Emitter(++emitters).publish(jetStream, 20, true);
      int events = 200 * emitters;
      try (JetStreamHost host = start("jobs", "summarise", "summarise.fields", "*:nbytes", "nats.groups", groups)) {
        Map<String, JsonNode> summaries =
            OutputReader.await(connection, "lifeline.summaries", map -> totalCount(map) == events);
        assertThat(totalCount(summaries)).as(groups).isEqualTo(events);
        assertThat(host.health().values()).containsOnly("running");
      }
    }
  }

  @Test
  void anotherStreamOfTheSameNameIsNoticedEvenIfItIsLonger() throws Exception {
    String[] settings = {"jobs", "summarise,archive", "summarise.fields", "*:nbytes"};
    new Emitter(1).publish(jetStream, 5, true);
    try (JetStreamHost host = start(settings)) {
      OutputReader.await(connection, "lifeline.summaries", map -> totalCount(map) == 50);
      assertThat(host.health()).containsEntry("archive", "running");
    }
    JetStreamManagement management = connection.jetStreamManagement();
    StreamConfiguration batches = management.getStreamInfo("LIFELINE").getConfiguration();
    management.deleteStream("LIFELINE");
    management.addStream(batches);
    new Emitter(2).publish(jetStream, 20, true);
    try (JetStreamHost host = start(settings)) {
      assertThat(host.health().values()).allSatisfy(status -> assertThat(status).contains("was recreated"));
    }
  }

  @Test
  void archivesEveryEventAndBalancesTheLedger() throws Exception {
    Emitter emitter = new Emitter(4);
    emitter.publish(jetStream, 50, true);
    Path archive = directory.resolve("archive");
    try (JetStreamHost host =
        start("jobs", "archive,ledger", "archive.dir", archive.toString(), "archive.roll.interval", "1s",
            "ledger.interval", "200ms")) {
      Map<String, JsonNode> ledger =
          OutputReader.await(
              connection,
              "lifeline.ledger",
              map -> map.values().stream().anyMatch(v -> isFinal(v, 500)));
      JsonNode balance = ledger.values().iterator().next();
      assertThat(balance.get("state").textValue()).isEqualTo("final");
      assertThat(balance.get("emitted").intValue()).isEqualTo(500);
      assertThat(balance.get("archived").intValue()).isEqualTo(500);
      assertThat(balance.get("in_flight").intValue()).isZero();
      assertThat(balance.get("missing").intValue()).as("wrong books: %s", balance).isZero();
    }
    Map<RouteKey, Long> counts = new ManifestCounts(archive).refresh();
    assertThat(counts.values()).as("wrong books: archived events").containsExactly(500L);
  }

  @Test
  void tellsWhichComponentOfTwoEmittersIsTheBottleneck() throws Exception {
    Emitter sender = new Emitter(7);
    Emitter receiver = new Emitter(8);
    for (int second = 0; second < 40; second++) {
      jetStream.publish("lifeline.batches.7", sender.operations("disk.read", 10));
      jetStream.publish("lifeline.batches.8", receiver.operations("disk.write", 60));
    }
    try (JetStreamHost host = start("jobs", "bottleneck")) {
      Map<String, JsonNode> alerts = OutputReader.await(connection, "lifeline.alerts", map -> map.size() == 1);
      assertThat(alerts).containsOnlyKeys("bottleneck:program%3Dtest:disk-write");
      JsonNode alert = alerts.values().iterator().next();
      assertThat(alert.get("state").textValue()).isEqualTo("on");
      assertThat(alert.get("components").get(1).get("bytes_per_second_of_work").doubleValue())
          .isBetween(1e6 / 0.09, 1e6 / 0.06);
      assertThat(host.health()).containsEntry("bottleneck", "running");
    }
    assertThat(OutputReader.all(connection, "lifeline.alerts")).as("told once").hasSize(1);
  }

  @Test
  void anArchiveInPostgresBalancesTheLedgerToo() throws Exception {
    PostgresServer server = PostgresServer.shared();
    new Emitter(4).publish(jetStream, 50, true);
    try (JetStreamHost host =
        start("jobs", "archive,ledger", "archive.dir", "", "archive.url", server.url(), "archive.password.file",
            server.passwordFile().toString(), "archive.schema", "on_jetstream", "ledger.interval", "200ms")) {
      Map<String, JsonNode> ledger =
          OutputReader.await(
              connection,
              "lifeline.ledger",
              map -> map.values().stream().anyMatch(v -> isFinal(v, 500)));
      assertThat(ledger.values()).singleElement().satisfies(balance ->
          assertThat(balance.get("missing").intValue()).as("wrong books: %s", balance).isZero());
      assertThat(host.health()).containsEntry("archive", "running");
    }
    try (java.sql.Connection database = server.connect(); Statement sql = database.createStatement();
        ResultSet row = sql.executeQuery("SELECT count(*) FROM on_jetstream.events")) {
      row.next();
      assertThat(row.getLong(1)).isEqualTo(500);
    }
  }

  @Test
  void goesOnWhenTheBrokerWasKilledAndRestarted() throws Exception {
    Emitter emitter = new Emitter(5);
    try (JetStreamHost host = start("jobs", "summarise", "summarise.fields", "*:nbytes")) {
      emitter.publish(jetStream, 20, false);
      OutputReader.await(connection, "lifeline.summaries", map -> totalCount(map) >= 100);
      server.kill();
      server.start();
      Connection again = server.connect();
      emitter.publish(again.jetStream(), 20, true);
      Map<String, JsonNode> summaries =
          OutputReader.await(again, "lifeline.summaries", map -> totalCount(map) == 400);
      assertThat(totalCount(summaries)).isEqualTo(400);
      again.close();
    }
  }

  @Test
  void letsASecondInstanceTakeOverWhenTheFirstEnds() throws Exception {
    Emitter emitter = new Emitter(6);
    String[] settings = {"jobs", "summarise,archive", "summarise.fields", "*:nbytes"};
    Metrics metrics = new Metrics();
    JetStreamHost first = start(metrics, settings);
    try (JetStreamHost second = start(metrics, settings)) {
      emitter.publish(jetStream, 20, false);
      OutputReader.await(connection, "lifeline.summaries", map -> totalCount(map) >= 100);
      assertThat(first.health()).containsEntry("summarise", "running");
      assertThat(second.health()).isEqualTo(Map.of("summarise", "standby", "archive", "standby"));
      first.close();
      emitter.publish(jetStream, 20, true);
      Map<String, JsonNode> summaries =
          OutputReader.await(connection, "lifeline.summaries", map -> totalCount(map) == 400);
      assertThat(totalCount(summaries)).isEqualTo(400);
      awaitMetric(metrics, "lifeline_batches_total{task=\"archive\"} 40\n");
      assertThat(second.health()).isEqualTo(Map.of("summarise", "running", "archive", "running"));
    }
    assertThat(new ManifestCounts(directory.resolve("archive")).refresh().values()).as("wrong books: archived events")
        .containsExactly(400L);
  }

  @Test
  void saysWhichStreamIsMissingAndWhatMakesIt() throws Exception {
    connection.jetStreamManagement().deleteStream("LIFELINE");
    JetStreamHost host = new JetStreamHost(config("jobs", "summarise"), new Metrics());
    assertThatThrownBy(host::start)
        .isInstanceOf(HostException.class)
        .hasMessage("the stream LIFELINE does not exist; create it with lifeline-setup");
    host.close();
  }

  private JetStreamHost start(String... settings) throws HostException {
    return start(new Metrics(), settings);
  }

  private JetStreamHost start(Metrics metrics, String... settings) throws HostException {
    JetStreamHost host = new JetStreamHost(config(settings), metrics);
    host.start();
    return host;
  }

  private static void awaitMetric(Metrics metrics, String line) throws InterruptedException {
    long deadline = System.nanoTime() + OutputReader.PATIENCE.toNanos();
    while (!metrics.text().contains(line) && System.nanoTime() < deadline) {
      Thread.sleep(20);
    }
    assertThat(metrics.text()).contains(line);
  }

  private static void awaitRetry(JetStreamHost host, String task) throws InterruptedException {
    long deadline = System.nanoTime() + OutputReader.PATIENCE.toNanos();
    while (!host.health().get(task).startsWith("retrying") && System.nanoTime() < deadline) {
      Thread.sleep(20);
    }
    assertThat(host.health().get(task)).startsWith("retrying");
  }

  private static boolean isArchived(JsonNode balance, int events) {
    return balance.get("archived").asInt() == events;
  }

  /** The archive may be ahead of the ledger, which then has not yet received the emitter's final report. */
  private static boolean isFinal(JsonNode balance, int events) {
    return isArchived(balance, events) && balance.get("state").asText().equals("final");
  }

  private JobConfig config(String... settings) {
    Map<String, String> map = new HashMap<>();
    map.put("broker.url", server.url());
    map.put("archive.dir", directory.resolve("archive").toString());
    for (int i = 0; i < settings.length; i += 2) {
      map.put(settings[i], settings[i + 1]);
    }
    return JobConfig.load(null, Map.of(), map);
  }

  static int totalCount(Map<String, JsonNode> summaries) {
    return summaries.values().stream().mapToInt(summary -> summary.get("count").intValue()).sum();
  }
}
