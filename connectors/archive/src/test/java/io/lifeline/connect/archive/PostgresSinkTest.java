package io.lifeline.connect.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.servers.PostgresServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The archive sink in a real Connect cluster, with a PostgreSQL behind it that may die. */
class PostgresSinkTest extends ArchiveSinkInConnect {

  @TempDir static Path directory;

  private static PostgresServer server;

  @BeforeAll
  static void startDatabase() throws Exception {
    server = PostgresServer.start(directory.resolve("postgres"), "--fast");
  }

  @AfterAll
  static void stopDatabase() throws Exception {
    server.close();
  }

  /** The password as Connect has it after its providers, not as a file. */
  @Override
  Map<String, String> place() throws IOException {
    String password = Files.readString(server.passwordFile()).strip();
    return Map.of("archive.url", server.url(), "archive.password", password, "archive.schema", schema());
  }

  private String schema() {
    return name.toLowerCase(Locale.ROOT).substring(0, Math.min(40, name.length()));
  }

  @Override
  long events() throws Exception {
    return query("SELECT count(*) FROM events");
  }

  @Test
  void eachBatchIsArchivedOnceThroughRepeatsAndRestarts() throws Exception {
    run(settings("tasks.max", "2"));
    sendSerials(1, 50);
    awaitEvents(3 * 50 * Batches.EVENTS);

    sendSerials(31, 100); // twenty of each emitter came before
    connect.restartConnectorAndTasks(name, false, true, false);
    sendSerials(101, 200);

    awaitEvents(3 * 200 * Batches.EVENTS);
    assertThat(query("SELECT count(DISTINCT (emitter, serial)) FROM \"test.serial\"")).as("wrong books: serials")
        .isEqualTo(6000);
  }

  @Test
  void aServerThatDiesIsWaitedForAndNothingIsLostOrDoubled() throws Exception {
    run(settings("archive.retry.backoff.ms", "100"));
    sendSerials(1, 50);
    awaitEvents(3 * 50 * Batches.EVENTS);
    server.kill();
    sendSerials(51, 150);
    await("a try that fails", () -> metric("retry-total") > 0);
    server.start();
    sendSerials(151, 200);
    awaitEvents(3 * 200 * Batches.EVENTS);
    assertThat(query("SELECT count(DISTINCT (emitter, serial)) FROM \"test.serial\"")).as("wrong books: serials")
        .isEqualTo(6000);
    assertThat(connect.connectorStatus(name).tasks().get(0).state()).isEqualTo("RUNNING");
  }

  @Test
  void aRejectedRecordGoesToTheDeadLetterQueueOnce() throws Exception {
    String deadLetters = name + ".dead";
    connect.kafka().createTopic(deadLetters, 1);
    run(
        settings(
            "errors.tolerance", "all",
            "errors.deadletterqueue.topic.name", deadLetters,
            "errors.deadletterqueue.topic.replication.factor", "1",
            "errors.deadletterqueue.context.headers.enable", "true"));
    send(0, "no batch".getBytes(StandardCharsets.UTF_8));
    sendSerials(1, 10);
    awaitEvents(3 * 10 * Batches.EVENTS);
    var rejected = connect.kafka().consumeAll(AT_MOST.toMillis(), deadLetters);
    assertThat(rejected.count()).isEqualTo(1);
    assertThat(reason(rejected.iterator().next())).startsWith(name + "-0 at offset 0: truncated at byte 8: ");
  }

  /** 0 while there is no such table, or no server. */
  private long query(String sql) throws IOException {
    try (Connection connection = server.connect(); Statement statement = connection.createStatement()) {
      statement.execute("SET search_path = " + schema());
      try (ResultSet rows = statement.executeQuery(sql)) {
        rows.next();
        return rows.getLong(1);
      }
    } catch (SQLException e) {
      return 0;
    }
  }
}
