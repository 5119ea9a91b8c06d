package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.Deduplicator;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.RarelyRead;
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
 * in the checkpoint or in the bucket. They are merged into existing keys, never overwritten: an owner that has lost its
 * lease without noticing destroys nothing. Used by one thread.
 */
final class SpilledState implements KeyedState {

  private static final long ACK_TIMEOUT_S = 10;

  /** What the keys of checksums begin with in the bucket. */
  private static final String CRC = "crc/";

  /** Maximum number of requests in flight. */
  private static final int MAX_IN_FLIGHT = 256;

  private final MemoryState inner;
  private final JetStream jetStream;
  private final KeyValue bucket;
  private final JetStreamManagement management;
  private final String prefix;

  /** @param inner the state in the checkpoints */
  SpilledState(
      MemoryState inner, JetStream jetStream, KeyValue bucket, JetStreamManagement management, String task) {
    this.inner = inner;
    this.jetStream = jetStream;
    this.bucket = bucket;
    this.management = management;
    this.prefix = task + ".";
  }

  @Override
  public byte[] get(String key) {
    byte[] value = inner.get(key);
    if (value != null || !RarelyRead.isKey(key)) {
      return value;
    }
    try {
      KeyValueEntry entry = bucket.get(bucketKey(key));
      return entry == null ? null : entry.getValue();
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

  /** Moves the rarely read values of the checkpoint just written into the bucket. */
  void spill() throws IOException, JetStreamApiException {
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
      }
    }
    keys.forEach(inner::delete);
  }

  private CompletableFuture<PublishAck> create(String key, byte[] value) {
    String subject = "$KV." + bucket.getBucketName() + "." + bucketKey(key);
    return jetStream.publishAsync(
        subject, value, PublishOptions.builder().expectedLastSubjectSequence(0).build());
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
      KeyValueEntry known = bucket.get(inBucket);
      try {
        if (known == null || known.getValue() == null) {
          bucket.create(inBucket, value);
        } else {
          bucket.update(inBucket, RarelyRead.merge(key, known.getValue(), value), known.getRevision());
        }
        return;
      } catch (JetStreamApiException e) {
        if (!Conflicts.isConflict(e)) {
          throw e;
        }
      }
    }
  }

  private String bucketKey(String key) {
    String name = key.startsWith(Deduplicator.CHECKSUMS) ? CRC + key.substring(Deduplicator.CHECKSUMS.length()) : key;
    return prefix + name.replace('/', '.');
  }
}
