package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.Deduplicator;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.RetiredRoutes;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.StateReader.NewerStateException;
import io.nats.client.Message;
import io.nats.client.Subscription;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests state outside the checkpoints with a real bucket. */
@Tag("system")
class SpilledStateTest extends OnBucket {

  private static final RouteKey ROUTE = new RouteKey(new Incarnation(1, 2), 0);
  private static final SpilledState.Renewal NONE = () -> {};

  /** A chunk of checksums is merged with what another owner wrote to its key. */
  @Test
  void whatAFormerOwnerSpillsTakesNoChecksumsAway() throws Exception {
    SpilledState first = spilled(new MemoryState(), 1);
    fill(new Deduplicator(first, 1000), 1, 100, 200);
    MemoryState inner = new MemoryState();
    SpilledState second = spilled(inner, 2);
    Deduplicator filled = new Deduplicator(second, 1000);
    fill(filled, 1, 2, 100, 200);
    filled.save();
    second.spill(NONE);
    assertThat(bucket.keys(task + ".crc.>")).hasSize(1);
    first.spill(NONE);
    first.spill(NONE);
    Deduplicator after = new Deduplicator(spilled(inner, 3), 1000);
    assertThat(after.check(ROUTE, 2, -2, 0)).isEqualTo(Deduplicator.Result.CONFLICT);
    assertThat(after.check(ROUTE, 2, 2, 0)).isEqualTo(Deduplicator.Result.DUPLICATE);
    after.expire(5000);
    assertThat(bucket.keys(task + ".crc.>")).as("older than the retention").isEmpty();
  }

  @Test
  void whatAFormerOwnerSpillsDoesNotReplaceARouteRetiredLater() throws Exception {
    SpilledState former = spilled(new MemoryState(), 1);
    retire(former, ROUTE, 1, 0);
    MemoryState inner = new MemoryState();
    SpilledState owner = spilled(inner, 2);
    retire(owner, ROUTE, 2, 0);
    owner.spill(NONE);
    former.spill(NONE);
    assertThat(bucket.keys(task + ".retired.>")).hasSize(1);
    assertThat(routes(spilled(inner, 3)).get(ROUTE)).containsExactly(2);
    routes(owner).expire(5000);
    assertThat(bucket.keys(task + ".retired.>")).as("older than the retention").isEmpty();
  }

  /** The later owner's value includes batches that the former one may still read: it would number results anew. */
  @Test
  void whatALaterOwnerKnowsOfARouteIsNotReadByAFormerOne() throws Exception {
    SpilledState former = spilled(new MemoryState(), 1);
    retire(former, ROUTE, 1, 0);
    former.spill(NONE);
    SpilledState owner = spilled(new MemoryState(), 2);
    assertThat(routes(former).get(ROUTE)).containsExactly(1);
    retire(owner, ROUTE, 2, 0);
    owner.spill(NONE);
    assertThatThrownBy(() -> routes(former).get(ROUTE))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("another instance has taken over " + task);
    assertThat(routes(owner).get(ROUTE)).containsExactly(2);
  }

  /** If one of these bytes changes, releases cannot read each other's values: it needs a new version. */
  @Test
  void aRetiredRouteHasItsVersionTheEpochAndTheValue() throws Exception {
    SpilledState state = spilled(new MemoryState(), 300);
    retire(state, ROUTE, 7, 0);
    state.spill(NONE);
    String key = bucket.keys(task + ".retired.>").get(0);
    byte[] value = bucket.get(key).getValue();
    assertThat(key).isEqualTo(task + ".retired.test.0." + ROUTE);
    assertThat(value).isEqualTo(HexFormat.of().parseHex("01ac020107"));
    value[0] = 2;
    bucket.put(key, value);
    assertThatThrownBy(() -> routes(state).get(ROUTE)).isInstanceOf(NewerStateException.class);
  }

  /** The newer value need not be longer, nor have a greater number in it. */
  @Test
  void aRouteThatIsRetiredAgainReplacesTheFormerValue() throws Exception {
    MemoryState inner = new MemoryState();
    SpilledState state = spilled(inner, 1);
    for (int value = 9; value > 5; value--) {
      retire(state, ROUTE, value, 0);
      state.spill(NONE);
      assertThat(routes(state).get(ROUTE)).containsExactly(value);
    }
    SpilledState successor = spilled(inner, 2);
    retire(successor, ROUTE, 5, 0);
    successor.spill(NONE);
    assertThat(routes(successor).get(ROUTE)).containsExactly(5);
    long revision = bucket.get(bucket.keys(task + ".retired.>").get(0)).getRevision();
    retire(successor, ROUTE, 5, 0);
    successor.spill(NONE);
    assertThat(bucket.get(bucket.keys(task + ".retired.>").get(0)).getRevision())
        .as("the same value is not written again")
        .isEqualTo(revision);
  }

  @Test
  void theLeaseIsRenewedWhileManyValuesMove() throws Exception {
    MemoryState inner = new MemoryState();
    SpilledState state = spilled(inner, 1);
    for (int route = 0; route < 700; route++) {
      retire(state, new RouteKey(new Incarnation(1, route), 0), 1, 0);
    }
    AtomicInteger asked = new AtomicInteger();
    assertThatThrownBy(() -> state.spill(() -> {
      if (asked.incrementAndGet() == 300) {
        throw new Lease.LostException(task);
      }
    })).isInstanceOf(Lease.LostException.class);
    assertThat(bucket.keys(task + ".retired.>")).as("two blocks").hasSize(512);
    state.spill(asked::incrementAndGet);
    assertThat(asked.get()).isEqualTo(1000);
    assertThat(bucket.keys(task + ".retired.>")).hasSize(700);
    inner.scan("retired/", (key, value) -> assertThat(key).as("still in the checkpoint").isNull());
  }

  /** A replica that is behind would not know what was just moved. */
  @Test
  void readsFromTheLeaderAndForANewRouteOnce() throws Exception {
    SpilledState state = spilled(new MemoryState(), 1);
    for (int quarter = 0; quarter < 4; quarter++) {
      for (int route = quarter; route < 4; route++) {
        retire(state, new RouteKey(new Incarnation(1, route), 0), 10 * quarter + route, 250 * quarter);
      }
    }
    state.spill(NONE);
    try (Requests requests = new Requests()) {
      assertThat(routes(state).get(new RouteKey(new Incarnation(1, 99), 0))).isNull();
      assertThat(requests.take()).hasSize(1);
      assertThat(routes(state).get(new RouteKey(new Incarnation(1, 3), 0))).containsExactly(33);
      assertThat(requests.take()).as("in the newest generation").hasSize(1);
      for (int route = 0; route < 3; route++) {
        assertThat(routes(state).get(new RouteKey(new Incarnation(1, route), 0))).containsExactly(11 * route);
      }
      assertThat(requests.take()).allMatch(subject -> subject.startsWith("$JS.API.STREAM.MSG.GET."));
    }
  }

  @Test
  void aRetiredRouteWhoseBatchesAreRepeatedIsReadOnce() throws Exception {
    SpilledState state = spilled(new MemoryState(), 1);
    Deduplicator deduplicator = new Deduplicator(state, 7_200_000);
    fill(deduplicator, 1, 2, 3);
    deduplicator.expire(RetiredRoutes.IDLE_MS + 1);
    deduplicator.save();
    state.spill(NONE);
    try (Requests requests = new Requests()) {
      for (int sequence = 1; sequence <= 3; sequence++) {
        Deduplicator.Result result = deduplicator.check(ROUTE, sequence, sequence, RetiredRoutes.IDLE_MS + 1);
        assertThat(result).isEqualTo(Deduplicator.Result.DUPLICATE);
      }
      deduplicator.save();
      assertThat(requests.take()).hasSize(1);
    }
  }

  /** What this test's task asks the bucket for: the subjects of the requests. */
  private final class Requests implements AutoCloseable {
    private final List<Subscription> subscriptions = List.of(
        connection.subscribe("$JS.API.STREAM.MSG.GET.KV_lifeline-jobs"),
        connection.subscribe("$JS.API.DIRECT.GET.KV_lifeline-jobs.>"));

    /** Returns those since the last call. */
    List<String> take() throws Exception {
      connection.flush(Duration.ofSeconds(30)); // what was published before it has come back
      List<String> subjects = new ArrayList<>();
      for (Subscription subscription : subscriptions) {
        for (long left = subscription.getPendingMessageCount(); left > 0; left--) {
          Message message = subscription.nextMessage(Duration.ofSeconds(30));
          if ((message.getSubject() + new String(message.getData(), StandardCharsets.UTF_8)).contains(task + ".")) {
            subjects.add(message.getSubject());
          }
        }
      }
      return subjects;
    }

    @Override
    public void close() {
      subscriptions.forEach(Subscription::unsubscribe);
    }
  }

  private SpilledState spilled(MemoryState inner, long epoch) throws Exception {
    return new SpilledState(inner, connection, bucket, task, epoch);
  }

  private static RetiredRoutes routes(KeyedState state) {
    return new RetiredRoutes(state, "test", 1000);
  }

  private static void retire(KeyedState state, RouteKey route, int value, long nowMs) {
    RetiredRoutes routes = routes(state);
    routes.due(route);
    routes.save(key -> new byte[] {(byte) value}, nowMs);
  }

  private static void fill(Deduplicator deduplicator, int... sequences) {
    for (int sequence : sequences) {
      assertThat(deduplicator.check(ROUTE, sequence, sequence, 0)).isEqualTo(Deduplicator.Result.NEW);
    }
  }
}
