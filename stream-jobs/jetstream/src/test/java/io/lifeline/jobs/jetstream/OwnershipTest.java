package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.Deduplicator;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.RetiredRoutes;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.JetStreamManagement;
import io.nats.client.KeyValue;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Tests leases and spilled state with a real bucket. */
@Tag("system")
class OwnershipTest {

  private static final Duration LENGTH = Duration.ofSeconds(10);
  private static final RouteKey ROUTE = new RouteKey(new Incarnation(1, 2), 0);

  private static Connection connection;
  private static KeyValue bucket;
  private static JetStreamManagement management;

  private final AtomicLong nanoTime = new AtomicLong();
  private String task;

  @BeforeAll
  static void startServer() throws Exception {
    NatsServer server = NatsServer.shared();
    connection = server.connect();
    server.createStreams(connection);
    bucket = connection.keyValue("lifeline-jobs");
    management = connection.jetStreamManagement();
  }

  @AfterAll
  static void stopServer() throws Exception {
    connection.close();
  }

  @BeforeEach
  void nameTheTask(TestInfo test) {
    task = test.getTestMethod().orElseThrow().getName();
  }

  @Test
  void givesALeaseToOneOwnerUntilItStopsRenewing() throws Exception {
    Lease first = lease();
    Lease second = lease();
    assertThat(first.tryAcquire()).hasValue(1);
    assertThat(second.tryAcquire()).isEmpty();
    advance(9);
    first.renewIfDue();
    assertThat(second.tryAcquire()).as("renewed, so the wait starts again").isEmpty();
    advance(9);
    assertThat(second.tryAcquire()).isEmpty();
    advance(2);
    assertThat(second.tryAcquire()).hasValue(2);
    assertThatThrownBy(first::renewIfDue).isInstanceOf(Lease.LostException.class);
  }

  @Test
  void givesALeaseAtOnceWhenItWasReleased() throws Exception {
    Lease first = lease();
    Lease second = lease();
    assertThat(first.tryAcquire()).hasValue(1);
    first.release();
    assertThat(second.tryAcquire()).hasValue(2);
  }

  @Test
  void knowsThatAProcessOfThisMachineHasEnded() throws Exception {
    Process process = new ProcessBuilder("sleep", "60").start();
    String self = new Owner().toString();
    assertThat(Owner.hasEnded(self)).isFalse();
    String place = self.substring(0, self.indexOf('/'));
    long start = process.info().startInstant().orElseThrow().toEpochMilli();
    String other = place + "/" + process.pid() + "/" + start + "/x";
    assertThat(Owner.hasEnded(other)).isFalse();
    process.destroyForcibly().waitFor();
    assertThat(Owner.hasEnded(other)).isTrue();
    assertThat(Owner.hasEnded("elsewhere/" + process.pid() + "/" + start + "/x")).isFalse();
  }

  /** A chunk of checksums is merged with what another owner wrote to its key. */
  @Test
  void whatAFormerOwnerSpillsTakesNoChecksumsAway() throws Exception {
    SpilledState first = spilled(new MemoryState());
    fill(new Deduplicator(first, 1000), 1, 100, 200);
    MemoryState inner = new MemoryState();
    SpilledState second = spilled(inner);
    Deduplicator filled = new Deduplicator(second, 1000);
    fill(filled, 1, 2, 100, 200);
    filled.save();
    second.spill();
    assertThat(bucket.keys(task + ".crc.>")).hasSize(1);
    first.spill();
    first.spill();
    Deduplicator after = new Deduplicator(spilled(inner), 1000);
    assertThat(after.check(ROUTE, 2, -2, 0)).isEqualTo(Deduplicator.Result.CONFLICT);
    assertThat(after.check(ROUTE, 2, 2, 0)).isEqualTo(Deduplicator.Result.DUPLICATE);
    after.expire(5000);
    assertThat(bucket.keys(task + ".crc.>")).as("older than the retention").isEmpty();
  }

  @Test
  void whatAFormerOwnerSpillsDoesNotReplaceARouteRetiredLater() throws Exception {
    SpilledState former = spilled(new MemoryState());
    new RetiredRoutes(former, "test", 1000).put(ROUTE, 1, new byte[] {1}, 0);
    MemoryState inner = new MemoryState();
    SpilledState owner = spilled(inner);
    RetiredRoutes routes = new RetiredRoutes(owner, "test", 1000);
    routes.put(ROUTE, 1, new byte[] {1}, 0);
    owner.spill();
    routes.put(ROUTE, 2, new byte[] {2}, 0);
    owner.spill();
    former.spill();
    assertThat(bucket.keys(task + ".retired.>")).hasSize(1);
    assertThat(new RetiredRoutes(spilled(inner), "test", 1000).get(ROUTE)).containsExactly(2);
    routes.expire(5000);
    assertThat(bucket.keys(task + ".retired.>")).as("older than the retention").isEmpty();
  }

  private SpilledState spilled(MemoryState inner) throws Exception {
    return new SpilledState(inner, connection.jetStream(), bucket, management, task);
  }

  private static void fill(Deduplicator deduplicator, int... sequences) {
    for (int sequence : sequences) {
      assertThat(deduplicator.check(ROUTE, sequence, sequence, 0)).isEqualTo(Deduplicator.Result.NEW);
    }
  }

  private Lease lease() {
    return new Lease(bucket, task, new Owner(), LENGTH, nanoTime::get);
  }

  private void advance(long seconds) {
    nanoTime.addAndGet(Duration.ofSeconds(seconds).toNanos());
  }
}
