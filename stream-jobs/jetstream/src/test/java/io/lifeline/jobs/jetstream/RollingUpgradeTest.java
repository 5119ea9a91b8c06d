package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.JetStream;
import io.nats.client.KeyValue;
import io.nats.client.api.KeyValueEntry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Upgrades that take effect instance by instance while batches arrive. The state at the beginning is that of an earlier
 * release, see {@code src/test/state} of the core.
 */
@Tag("system")
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class RollingUpgradeTest {

  private static final Path STATES = Path.of("../core/src/test/state/jetstream");
  private static final int GROUPS = 4;

  /** An emitter per group; the batches that the earlier release read. */
  private static final int BEFORE = 20;

  private static final int MORE = 50;

  private final List<Emitter> emitters = new ArrayList<>();
  private NatsServer server;
  private Connection connection;
  private JetStream jetStream;
  private KeyValue bucket;

  @BeforeEach
  void startServer() throws Exception {
    server = NatsServer.shared();
    connection = server.connect();
    server.createStreams(connection);
    jetStream = connection.jetStream();
    bucket = connection.keyValue("lifeline-jobs");
  }

  @AfterEach
  void stopServer() throws Exception {
    connection.close();
  }

  @Test
  void theBooksBalanceAcrossAnUpgradeInstanceByInstance() throws Exception {
    storeFormerState();
    try (JetStreamHost second = start()) {
      try (JetStreamHost first = start()) {
        publish(MORE, false);
        repeatTheFirstBatches();
      }
      publish(MORE, false);
      try (JetStreamHost third = start()) {
        publish(MORE, true);
        assertBalanced(BEFORE + 3 * MORE, 2);
        assertThat(third.health().values()).allMatch(List.of("running", "standby")::contains);
      }
      assertThat(second.health().values()).allMatch(List.of("running", "standby")::contains);
    }
  }

  /** Until it is replaced, an instance leaves alone what a later release has written. */
  @Test
  void anInstanceStaysIdleWhereALaterReleaseHasBeen() throws Exception {
    storeFormerState();
    KeyValueEntry taken = bucket.get(key(1));
    byte[] later = taken.getValue().clone();
    later[0] = 99;
    long revision = bucket.put(key(1), later);
    try (JetStreamHost older = start()) {
      publish(MORE, false);
      OutputReader.await(connection, "lifeline.ledger", map -> received(map, BEFORE + MORE) == GROUPS - 1);
      assertThat(older.health()).containsEntry("ledger-0-of-4", "running");
      assertThat(older.health().get("ledger-1-of-4"))
          .startsWith("outdated: a later release wrote the state (layout 99, this release reads up to ");
      assertThat(older.failure().toCompletableFuture()).isNotDone();
      assertThat(bucket.get(key(1)).getRevision()).as("not written").isEqualTo(revision);
      bucket.put(key(1), taken.getValue()); // which the later release can read
      try (JetStreamHost newer = start()) {
        OutputReader.await(connection, "lifeline.ledger", map -> received(map, BEFORE + MORE) == GROUPS);
        assertThat(newer.health()).as("the older one does not count").containsEntry("ledger-1-of-4", "running");
        assertThat(older.health().get("ledger-1-of-4")).startsWith("outdated: ");
      }
    }
    try (JetStreamHost replacement = start()) {
      publish(MORE, true);
      assertBalanced(BEFORE + 2 * MORE, 0);
      assertThat(replacement.health().values()).containsOnly("running");
    }
  }

  /** Publishes what the earlier release has read, and stores the checkpoints that it left. */
  private void storeFormerState() throws Exception {
    for (int group = 0; group < GROUPS; group++) {
      Emitter emitter = new Emitter(incarnation(group));
      emitter.publish(jetStream, BEFORE, false);
      emitters.add(emitter);
    }
    Instant made = StreamBounds.of(connection.getStreamContext("LIFELINE")).made();
    for (int group = 0; group < GROUPS; group++) {
      MemoryState state = new MemoryState();
      for (String line : Files.readAllLines(STATES.resolve("ledger-" + group + ".txt"))) {
        String[] entry = line.split(" ");
        String key = entry[0].replace(new Incarnation(group, group).toString(), incarnation(group).toString());
        state.put(key, HexFormat.of().parseHex(withChecksums(entry[1], group)));
      }
      bucket.put(key(group), FormerCheckpoint.inEntry(1, made, BEFORE * (group + 1) + 1, state));
      bucket.put("ledger-" + group + "-of-4.lease", "1 -".getBytes());
    }
  }

  /** Returns an emitter of the group; those in the stored states were not where their incarnations belong. */
  private static Incarnation incarnation(int group) {
    return LongStream.range(0, 1000).mapToObj(low -> new Incarnation(group, low))
        .filter(emitter -> NatsSettings.subject(emitter) % GROUPS == group).findFirst().orElseThrow();
  }

  /** Replaces the checksums of the stored emitter's batches by those of ours, which have another incarnation. */
  private static String withChecksums(String value, int group) {
    Emitter stored = new Emitter(group);
    Emitter ours = new Emitter(incarnation(group));
    String replaced = value;
    for (int batch = 0; batch < BEFORE; batch++) {
      replaced = replaced.replace(checksum(stored.nextBatch(false)), checksum(ours.nextBatch(false)));
    }
    return replaced;
  }

  private static String checksum(byte[] batch) {
    return HexFormat.of().formatHex(batch, batch.length - 4, batch.length);
  }

  private static String key(int group) {
    return "ledger-" + group + "-of-4.checkpoint";
  }

  private void publish(int batches, boolean areLast) throws Exception {
    for (int i = 0; i < batches; i++) {
      for (Emitter emitter : emitters) {
        emitter.publish(jetStream, 1, areLast && i == batches - 1);
      }
    }
  }

  /** Their sequences are known from the earlier release's state only. */
  private void repeatTheFirstBatches() throws Exception {
    for (int group = 0; group < GROUPS; group++) {
      new Emitter(incarnation(group)).publish(jetStream, 2, false);
    }
  }

  private JetStreamHost start() throws Exception {
    Map<String, String> settings = Map.of(
        "broker.url", server.url(),
        "jobs", "ledger",
        "nats.groups", String.valueOf(GROUPS),
        "nats.lease", "2s",
        "ledger.interval", "100ms",
        "checkpoint.interval", "100ms");
    JetStreamHost host = new JetStreamHost(JobConfig.load(null, Map.of(), settings), new Metrics());
    host.start();
    return host;
  }

  private void assertBalanced(int batches, int repeats) throws Exception {
    Map<String, JsonNode> ledger = OutputReader.await(
        connection,
        "lifeline.ledger",
        map -> received(map, batches) == GROUPS
            && map.values().stream().allMatch(balance -> balance.get("state").asText().equals("final")));
    assertThat(ledger).hasSize(GROUPS);
    for (JsonNode balance : ledger.values()) {
      assertThat(balance.get("emitted").intValue()).as("wrong books: %s", balance).isEqualTo(10 * batches);
      assertThat(balance.get("received").intValue()).as("wrong books: %s", balance).isEqualTo(10 * batches);
      assertThat(balance.get("batches").intValue()).as("wrong books: %s", balance).isEqualTo(batches);
      assertThat(balance.get("repeated_batches").intValue()).as("wrong books: %s", balance).isEqualTo(repeats);
      assertThat(balance.get("missing").intValue()).as("wrong books: %s", balance).isZero();
    }
  }

  /** Returns how many emitters have so many batches in their newest balance. */
  private static long received(Map<String, JsonNode> ledger, int batches) {
    return ledger.values().stream().filter(balance -> balance.get("batches").intValue() == batches).count();
  }
}
