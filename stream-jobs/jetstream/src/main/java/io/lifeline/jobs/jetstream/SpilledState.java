package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.Checksums;
import io.lifeline.jobs.core.Deduplicator;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.RarelyRead;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import io.nats.client.Connection;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.KeyValue;
import io.nats.client.PublishOptions;
import io.nats.client.api.KeyValueEntry;
import io.nats.client.api.PublishAck;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;

/**
 * A task's state that moves rarely read values out of memory and checkpoints, because they grow with the stream. They
 * are part of one checkpoint; once it is written, they move to separate keys in the bucket. So each of them is either
 * in the checkpoint or in the bucket. An owner that has lost its lease without noticing destroys nothing: checksums are
 * merged into those of an existing key, and other values have the epoch of the lease under which they were written, and
 * replace none of a later epoch. Nor does it read one of a later epoch, which may include batches that it has yet to
 * process: it would number their results otherwise than its successor. Used by one thread.
 */
final class SpilledState implements KeyedState {

  /** Renews the task's lease if that is due. */
  @FunctionalInterface
  interface Renewal {
    void renewIfDue() throws IOException, JetStreamApiException;
  }

  private static final long ACK_TIMEOUT_S = 10;

  /** What the keys of checksums begin with in the bucket. */
  private static final String CRC = "crc/";

  /** Maximum number of requests in flight. */
  private static final int MAX_IN_FLIGHT = 256;

  private final MemoryState inner;
  private final Connection connection;
  private final JetStream jetStream;
  private final JetStreamManagement management;
  private final KeyValue bucket;
  private final String task;
  private final long epoch;

  /**
   * @param inner the state in the checkpoints
   * @param epoch of the lease
   */
  SpilledState(MemoryState inner, Connection connection, KeyValue bucket, String task, long epoch)
      throws IOException {
    this.inner = inner;
    this.connection = connection;
    this.jetStream = connection.jetStream();
    this.management = connection.jetStreamManagement();
    this.bucket = bucket;
    this.task = task;
    this.epoch = epoch;
  }

  @Override
  public byte[] get(String key) {
    byte[] value = inner.get(key);
    if (value != null || !RarelyRead.isKey(key)) {
      return value;
    }
    KeyValueEntry entry = newest(key);
    return entry == null ? null : ofBucket(key, entry.getValue());
  }

  /** Most routes are new, so one request finds out whether the bucket has any of the keys. */
  @Override
  public byte[] firstOf(String keyPrefix, List<String> variants, String suffix) {
    String first = keyPrefix + variants.get(0) + suffix;
    byte[] value = inner.get(first);
    if (value != null) {
      return value;
    }
    KeyValueEntry any = newest(keyPrefix + "*" + suffix);
    if (any == null) {
      return inner.firstOf(keyPrefix, variants, suffix);
    }
    return any.getKey().equals(bucketKey(first))
        ? ofBucket(first, any.getValue())
        : KeyedState.super.firstOf(keyPrefix, variants, suffix);
  }

  private KeyValueEntry newest(String key) {
    try {
      return Buckets.newest(bucket, connection, bucketKey(key));
    } catch (IOException | JetStreamApiException e) {
      throw new IllegalStateException("the state of earlier batches cannot be read: " + e.getMessage(), e);
    }
  }

  @Override
  public void put(String key, byte[] value) {
    inner.put(key, value);
  }

  @Override
  public void delete(String key) {
    inner.delete(key);
  }

  /** Deletes a prefix; in the bucket this is one request, however many keys there are. */
  @Override
  public boolean deleteSome(String keyPrefix, int most) {
    if (RarelyRead.isKey(keyPrefix)) {
      try {
        Buckets.erase(bucket, management, bucketKey(keyPrefix) + ">");
      } catch (IOException | JetStreamApiException e) {
        throw new IllegalStateException("the state of old batches cannot be removed: " + e.getMessage(), e);
      }
    }
    return inner.deleteSome(keyPrefix, most);
  }

  @Override
  public void scan(String keyPrefix, BiConsumer<String, byte[]> visitor) {
    inner.scan(keyPrefix, visitor);
  }

  /** Moves the rarely read values of the checkpoint just written into the bucket; this can take many requests. */
  void spill(Renewal lease) throws IOException, JetStreamApiException {
    Map<String, byte[]> values = new TreeMap<>();
    RarelyRead.PREFIXES.forEach(keys -> inner.scan(keys, values::put));
    List<String> keys = new ArrayList<>(values.keySet());
    for (int from = 0; from < keys.size(); from += MAX_IN_FLIGHT) {
      List<String> some = keys.subList(from, Math.min(keys.size(), from + MAX_IN_FLIGHT));
      List<CompletableFuture<PublishAck>> sent = some.stream().map(key -> create(key, values.get(key))).toList();
      for (int i = 0; i < some.size(); i++) {
        if (!isCreated(sent.get(i))) {
          add(some.get(i), values.get(some.get(i)));
        }
        lease.renewIfDue();
      }
    }
    keys.forEach(inner::delete);
  }

  private CompletableFuture<PublishAck> create(String key, byte[] value) {
    return jetStream.publishAsync(
        Buckets.subject(bucket, bucketKey(key)),
        toBucket(key, value),
        PublishOptions.builder().expectedLastSubjectSequence(0).build());
  }

  /** Returns false if the key exists. */
  private static boolean isCreated(CompletableFuture<PublishAck> sent) throws IOException {
    try {
      sent.get(ACK_TIMEOUT_S, TimeUnit.SECONDS);
      return true;
    } catch (ExecutionException e) {
      for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
        if (cause instanceof JetStreamApiException refusal && Conflicts.isConflict(refusal)) {
          return false;
        }
      }
      throw new IOException("the broker rejected state: " + e.getCause().getMessage(), e.getCause());
    } catch (TimeoutException e) {
      throw new IOException("the broker did not acknowledge state within " + ACK_TIMEOUT_S + " s");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for the broker");
    }
  }

  /** Merges a value into a key; retries if another writer changes it concurrently. */
  private void add(String key, byte[] value) throws IOException, JetStreamApiException {
    String inBucket = bucketKey(key);
    while (true) {
      KeyValueEntry entry = Buckets.newest(bucket, connection, inBucket);
      try {
        if (entry == null) {
          bucket.create(inBucket, toBucket(key, value));
          return;
        }
        byte[] known = entry.getValue();
        byte[] merged = merged(key, known, value);
        if (!Arrays.equals(merged, known)) {
          bucket.update(inBucket, merged, entry.getRevision());
        }
        return;
      } catch (JetStreamApiException e) {
        if (!Conflicts.isConflict(e)) {
          throw e;
        }
      }
    }
  }

  /** Returns what a key of the bucket must hold that has the bytes {@code known}. */
  private byte[] merged(String key, byte[] known, byte[] value) {
    if (RarelyRead.isChecksums(key)) {
      return Checksums.merge(known, value);
    }
    StateReader in = new StateReader(known).version(1);
    boolean isLater = in.varint() > epoch;
    return isLater || Arrays.equals(in.blob(), value) ? known : toBucket(key, value);
  }

  private byte[] toBucket(String key, byte[] value) {
    return RarelyRead.isChecksums(key) ? value : new StateWriter().version(1).varint(epoch).blob(value).toBytes();
  }

  private byte[] ofBucket(String key, byte[] bytes) {
    if (RarelyRead.isChecksums(key)) {
      return bytes;
    }
    StateReader in = new StateReader(bytes).version(1);
    if (in.varint() > epoch) {
      throw new IllegalStateException("another instance has taken over " + task);
    }
    return in.blob();
  }

  private String bucketKey(String key) {
    String name = RarelyRead.isChecksums(key) ? CRC + key.substring(Deduplicator.CHECKSUMS.length()) : key;
    return task + "." + name.replace('/', '.');
  }
}
