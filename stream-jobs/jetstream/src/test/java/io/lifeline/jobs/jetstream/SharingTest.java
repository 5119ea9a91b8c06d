package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.JetStreamManagement;
import io.nats.client.KeyValue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Tests how many groups an instance may hold, with a real bucket. */
@Tag("system")
class SharingTest {

  private static final Duration LENGTH = Duration.ofSeconds(10);
  private static final int GROUPS = 4;

  private static Connection connection;

  private final AtomicLong nanoTime = new AtomicLong();
  private String job;

  @BeforeAll
  static void startServer() throws Exception {
    NatsServer server = NatsServer.shared();
    connection = server.connect();
    server.createStreams(connection);
  }

  @AfterAll
  static void stopServer() throws Exception {
    connection.close();
  }

  @BeforeEach
  void nameTheJob(TestInfo test) {
    job = test.getTestMethod().orElseThrow().getName();
  }

  /** An instance with the turns of its tasks. */
  private final class Instance {
    private final Sharing sharing;
    private final List<ShardQuota> waiting = new ArrayList<>();
    private final List<ShardQuota> working = new ArrayList<>();

    Instance() throws Exception {
      KeyValue bucket = connection.keyValue("lifeline-jobs");
      JetStreamManagement management = connection.jetStreamManagement();
      sharing =
          new Sharing(
              () -> bucket,
              () -> management,
              new Owner(),
              job,
              GROUPS,
              LENGTH,
              nanoTime::get);
      for (int i = 0; i < GROUPS; i++) {
        waiting.add(sharing.turn());
      }
    }

    /**
     * Runs one step of its tasks: ends the turns that are over, requests the others. Returns the number of working
     * tasks.
     */
    int works() throws Exception {
      for (ShardQuota turn : List.copyOf(working)) {
        if (turn.isOver()) {
          turn.end();
          working.remove(turn);
          waiting.add(turn);
        }
      }
      for (ShardQuota turn : List.copyOf(waiting)) {
        if (turn.take()) {
          waiting.remove(turn);
          working.add(turn);
        }
      }
      return working.size();
    }
  }

  private void pass(int seconds) {
    nanoTime.addAndGet(Duration.ofSeconds(seconds).toNanos());
  }

  @Test
  void anInstanceAloneHoldsAllGroups() throws Exception {
    assertThat(new Instance().works()).isEqualTo(GROUPS);
  }

  @Test
  void aNewcomerIsLeftItsPart() throws Exception {
    Instance first = new Instance();
    assertThat(first.works()).isEqualTo(GROUPS);
    Instance second = new Instance();
    assertThat(second.works()).isEqualTo(2);
    pass(3);
    assertThat(first.works()).isEqualTo(2);
    Instance third = new Instance();
    third.works();
    pass(3);
    assertThat(first.works()).as("four groups over three instances: two at most").isEqualTo(2);
  }

  @Test
  void thePartOfAnInstanceThatFellSilentIsTakenOver() throws Exception {
    Instance first = new Instance();
    Instance second = new Instance();
    first.works();
    second.works();
    pass(3);
    assertThat(first.works()).isEqualTo(2);
    pass(9);
    assertThat(first.works()).as("not before it was silent for a lease").isEqualTo(2);
    pass(3);
    assertThat(first.works()).isEqualTo(GROUPS);
  }

  @Test
  void thePartOfAnInstanceThatLeavesIsTakenOverAtTheNextLook() throws Exception {
    Instance first = new Instance();
    Instance second = new Instance();
    first.works();
    second.works();
    pass(3);
    assertThat(first.works()).isEqualTo(2);
    second.sharing.leave();
    pass(3);
    assertThat(first.works()).isEqualTo(GROUPS);
    assertThat(connection.keyValue("lifeline-jobs").keys(job + "-of-4.instance.*")).hasSize(1);
  }

  @Test
  void anInstanceThatWithdrawsFromAGroupRunsOthersAndIsNotCounted() throws Exception {
    Instance first = new Instance();
    Instance second = new Instance();
    first.works();
    assertThat(second.works()).isEqualTo(2);
    pass(3);
    assertThat(first.works()).isEqualTo(2);
    ShardQuota refused = second.working.remove(1);
    refused.withdraw();
    refused.end();
    pass(3);
    assertThat(first.works()).as("no longer half").isEqualTo(GROUPS);
    ShardQuota interrupted = second.working.remove(0);
    interrupted.end();
    second.waiting.add(interrupted);
    assertThat(second.works()).as("half, if their leases are free").isEqualTo(2);
    first.sharing.leave();
    first.working.forEach(ShardQuota::end);
    pass(3);
    assertThat(second.works()).as("all but the one").isEqualTo(GROUPS - 1);
    assertThat(connection.keyValue("lifeline-jobs").keys(job + "-of-4.instance.*"))
        .as("it does not announce itself again")
        .isEmpty();
  }
}
