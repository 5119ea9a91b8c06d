package io.lifeline.jobs.jetstream;

import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.KeyValue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;

/** Tests with a real server's bucket of the jobs, in which each test has a task of its own. */
abstract class OnBucket {
  static Connection connection;
  static KeyValue bucket;

  String task;

  @BeforeAll
  static void connect() throws Exception {
    NatsServer server = NatsServer.shared();
    connection = server.connect();
    server.createStreams(connection);
    bucket = connection.keyValue("lifeline-jobs");
  }

  @AfterAll
  static void disconnect() throws Exception {
    connection.close();
  }

  @BeforeEach
  void nameTheTask(TestInfo test) {
    task = test.getTestMethod().orElseThrow().getName();
  }
}
