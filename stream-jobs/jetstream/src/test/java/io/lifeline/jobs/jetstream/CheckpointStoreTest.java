package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.jobs.core.MemoryState;
import io.nats.client.JetStreamManagement;
import io.nats.client.KeyValue;
import io.nats.client.api.KeyValueConfiguration;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests checkpoints with a real bucket. */
@Tag("system")
class CheckpointStoreTest extends OnBucket {

  private static final Instant MADE = Instant.ofEpochSecond(1, 2);

  /** A limit that lets 16 kB into a chunk, and half of that into the entry. */
  private static final int SMALL = 20_480;

  private static JetStreamManagement management;

  private final Random random = new Random(1);

  @BeforeAll
  static void manage() throws Exception {
    management = connection.jetStreamManagement();
  }

  @Test
  void shutsAnEarlierOwnerOutAtEveryWrite() throws Exception {
    CheckpointStore first = store();
    MemoryState state = first.takeOver(1).state();
    first.write(checkpoint(10, state));
    CheckpointStore second = store();
    Checkpoint taken = second.takeOver(2);
    assertThat(taken.nextSequence()).isEqualTo(10);
    assertThatThrownBy(() -> first.write(checkpoint(11, state))).isInstanceOf(Lease.LostException.class);
    second.write(checkpoint(12, taken.state()));
    assertThatThrownBy(() -> store().takeOver(2))
        .as("not with the epoch of another")
        .isInstanceOf(Lease.LostException.class);
    assertThat(store().takeOver(3).nextSequence()).isEqualTo(12);
  }

  @Test
  void givesBackEverythingOfALargeCheckpoint() throws Exception {
    CheckpointStore store = store();
    MemoryState state = store.takeOver(1).state();
    put(state, "large", 200_000);
    store.write(checkpoint(6, state));
    assertThat(chunks()).hasSizeBetween(12, 15);
    Checkpoint back = store().takeOver(2);
    assertThat(back.nextSequence()).isEqualTo(6);
    assertThat(back.streamMade()).isEqualTo(MADE);
    assertThat(back.state().get("large")).isEqualTo(state.get("large"));
    assertThat(back.outbox()).hasSize(1);
    assertThat(back.outbox().get(0).id()).isEqualTo("id");
  }

  @Test
  void keepsToTheLimitOfABucket() throws Exception {
    KeyValueConfiguration limited = KeyValueConfiguration.builder().name("limited").maximumValueSize(SMALL).build();
    connection.keyValueManagement().create(limited);
    KeyValue small = connection.keyValue("limited");
    long most = Buckets.maxValueBytes(small, management, 1 << 20);
    assertThat(most).isEqualTo(SMALL);
    assertThat(Buckets.maxValueBytes(small, management, 10_000)).as("that of the server").isEqualTo(10_000);
    assertThat(Buckets.maxValueBytes(bucket, management, 10_000)).isEqualTo(10_000);
    CheckpointStore store = new CheckpointStore(small, management, task, most);
    MemoryState state = store.takeOver(1).state();
    put(state, "large", 100_000);
    store.write(checkpoint(2, state));
    assertSame(new CheckpointStore(small, management, task, most).takeOver(2), 2, state);
  }

  @Test
  void writesOnlyWhatHasChanged() throws Exception {
    CheckpointStore store = store();
    MemoryState state = store.takeOver(1).state();
    for (int i = 0; i < 100; i++) {
      put(state, "key" + i, 10_000);
    }
    store.write(checkpoint(1, state));
    List<String> base = chunks();
    put(state, "key7", 1000);
    state.delete("key8");
    store.write(checkpoint(2, state));
    assertThat(chunks()).as("in the entry").isEqualTo(base);
    assertThat(bucket.get(task + ".checkpoint").getValue()).hasSizeBetween(1000, 1500);
    put(state, "key9", 10_000);
    store.write(checkpoint(3, state));
    assertThat(chunks()).as("beside the large part").hasSize(base.size() + 1).containsAll(base);
    assertThat(bucket.get(task + ".checkpoint").getValue()).as("nothing has changed since").hasSizeLessThan(100);
    assertSame(store().takeOver(2), 3, state);
  }

  /** However often it changes, as many chunks stay as twice the state needs, and one more. */
  @Test
  void replacesThePartsOnceTheyAreAsLargeAsTheState() throws Exception {
    CheckpointStore store = store();
    MemoryState state = store.takeOver(1).state();
    for (int i = 0; i < 10; i++) {
      put(state, "key" + i, 10_000);
    }
    int most = 0;
    for (int next = 2; next < 60; next++) {
      put(state, "key" + random.nextInt(10), 10_000);
      store.write(checkpoint(next, state));
      most = Math.max(most, chunks().size());
    }
    assertThat(most).isBetween(8, 20);
    put(state, "key3", 10);
    store.write(checkpoint(60, state));
    assertSame(store().takeOver(2), 60, state);
  }

  /** A successor finds the checkpoint before or the one after, wherever the writer was stopped. */
  @Test
  void aCrashBetweenAnyTwoRequestsLosesNothing() throws Exception {
    for (int bytes : new int[] {100, 10_000, 60_000}) { // into the entry, as another part, as a new first part
      int requests = 0;
      while (!survives(bytes, requests)) {
        requests++;
      }
      assertThat(requests).isEqualTo(switch (bytes) {
        case 100 -> 1;
        case 10_000 -> 2;
        default -> 9; // seven chunks, the entry, and the removal of the former part
      });
    }
  }

  /** Returns whether a writer that dies after so many requests has written that many more bytes. */
  private boolean survives(int bytes, int requests) throws Exception {
    task = "crash-" + bytes + "-" + requests;
    AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);
    CheckpointStore store =
        new CheckpointStore(
            mortal(KeyValue.class, bucket, left), mortal(JetStreamManagement.class, management, left), task, SMALL);
    MemoryState state = store.takeOver(1).state();
    put(state, "first", 40_000);
    store.write(checkpoint(2, state));
    Map<String, String> before = values(state);
    put(state, "second", bytes);
    left.set(requests);
    boolean survived = true;
    try {
      store.write(checkpoint(3, state));
    } catch (IOException e) {
      survived = false;
    }
    Checkpoint found = store().takeOver(2);
    assertThat(found.nextSequence()).isBetween(survived ? 3L : 2L, 3L);
    boolean isNew = found.nextSequence() == 3;
    assertThat(values(found.state())).isEqualTo(isNew ? values(state) : before);
    int chunks = !isNew || bytes == 100 ? 3 : bytes == 10_000 ? 4 : 7;
    assertThat(chunks()).as("no orphans").hasSize(chunks);
    return survived;
  }

  /** Passes calls on until the process "dies". */
  private static <T> T mortal(Class<T> type, T target, AtomicInteger left) {
    InvocationHandler handler = (proxy, method, arguments) -> {
      if (!method.getName().equals("getBucketName") && left.getAndDecrement() <= 0) {
        throw new IOException("dead");
      }
      return call(method, target, arguments);
    };
    return proxy(type, handler);
  }

  private static Object call(Method method, Object target, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  /** The one that takes over has lost the lease already when it looks for chunks that a former owner left. */
  @Test
  void aLateOwnerDoesNotRemoveItsSuccessorsChunks() throws Exception {
    MemoryState state = store().takeOver(1).state();
    bucket.put(task + ".checkpoint.1-9.0", new byte[] {1}); // left by the first owner
    put(state, "large", 30_000);
    InvocationHandler late = (proxy, method, arguments) -> {
      if (method.getName().equals("keys")) {
        CheckpointStore successor = store();
        successor.takeOver(3);
        successor.write(checkpoint(7, state));
      }
      return call(method, bucket, arguments);
    };
    KeyValue slow = proxy(KeyValue.class, late);
    new CheckpointStore(slow, management, task, SMALL).takeOver(2);
    assertSame(store().takeOver(4), 7, state);
    assertThat(chunks()).hasSize(2).noneMatch(chunk -> chunk.contains(".1-9."));
  }

  /** A release whose checkpoints were always whole left it in chunks. */
  @Test
  void continuesFromAFormerCheckpoint() throws Exception {
    MemoryState former = new MemoryState();
    put(former, "large", 30_000);
    byte[] payload = FormerCheckpoint.payload(MADE, 7, former);
    bucket.put(task + ".checkpoint.1-5.0", Arrays.copyOf(payload, 16_384));
    bucket.put(task + ".checkpoint.1-5.1", Arrays.copyOfRange(payload, 16_384, payload.length));
    bucket.put(task + ".checkpoint", FormerCheckpoint.ofChunks(1, "1-5", 2, payload));
    CheckpointStore store = store();
    Checkpoint taken = store.takeOver(2);
    assertSame(taken, 7, former);
    assertThat(chunks()).as("not written again").hasSize(2);
    put(taken.state(), "more", 10_000);
    store.write(checkpoint(8, taken.state()));
    assertThat(chunks()).hasSize(3).noneMatch(chunk -> chunk.contains(".1-5."));
    assertSame(store().takeOver(3), 8, taken.state());
  }

  @Test
  void saysWhatADamagedCheckpointLacks() throws Exception {
    CheckpointStore store = store();
    MemoryState state = store.takeOver(1).state();
    put(state, "large", 100_000);
    store.write(checkpoint(5, state));
    bucket.delete(bucket.keys(task + ".checkpoint.*.0").get(0));
    assertThatThrownBy(() -> store().takeOver(2))
        .hasMessageMatching("the checkpoint " + task + "\\.checkpoint lacks its part 1 of 7");
  }

  private CheckpointStore store() {
    return new CheckpointStore(bucket, management, task, SMALL);
  }

  private List<String> chunks() throws Exception {
    return bucket.keys(task + ".checkpoint.*.*");
  }

  private void put(MemoryState state, String key, int bytes) {
    byte[] incompressible = new byte[bytes];
    random.nextBytes(incompressible);
    state.put(key, incompressible);
  }

  private static Checkpoint checkpoint(long next, MemoryState state) {
    return new Checkpoint(MADE, next, 0, state, List.of(new OutgoingMessage("subject", "key", "id", new byte[] {1})));
  }

  private static void assertSame(Checkpoint found, long next, MemoryState state) {
    assertThat(found.nextSequence()).isEqualTo(next);
    assertThat(values(found.state())).isEqualTo(values(state));
  }

  private static Map<String, String> values(MemoryState state) {
    Map<String, String> values = new TreeMap<>();
    state.scan("", (key, value) -> values.put(key, HexFormat.of().formatHex(value)));
    return values;
  }
}
