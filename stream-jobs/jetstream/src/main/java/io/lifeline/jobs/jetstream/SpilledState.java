package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.Deduplicator;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.MemoryState;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.KeyValue;
import io.nats.client.api.KeyValueEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * A task's state, of which the checksums of old batches are neither in memory nor in every checkpoint: they grow with
 * what the stream holds. They are part of one checkpoint, and once that is written they get keys of their own in the
 * bucket; so whatever a checkpoint has seen has its checksum in it or beside it. Used by one thread.
 */
final class SpilledState implements KeyedState {

  private final MemoryState inner;
  private final KeyValue bucket;
  private final JetStreamManagement management;
  private final String prefix;
  private final List<String> erased = new ArrayList<>();

  /** @param inner what the checkpoints hold */
  SpilledState(MemoryState inner, KeyValue bucket, JetStreamManagement management, String task) {
    this.inner = inner;
    this.bucket = bucket;
    this.management = management;
    this.prefix = task + ".crc.";
  }

  @Override
  public byte[] get(String key) {
    byte[] value = inner.get(key);
    if (value != null || !key.startsWith(Deduplicator.CHECKSUMS)) {
      return value;
    }
    try {
      KeyValueEntry entry = bucket.get(bucketKey(key));
      return entry == null ? null : entry.getValue();
    } catch (IOException | JetStreamApiException e) {
      throw new IllegalStateException("the checksums of earlier batches cannot be read: " + e.getMessage(), e);
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

  @Override
  public void deleteAll(String keyPrefix) {
    inner.deleteAll(keyPrefix);
    if (keyPrefix.startsWith(Deduplicator.CHECKSUMS)) {
      erased.add(keyPrefix);
    }
  }

  @Override
  public void scan(String keyPrefix, BiConsumer<String, byte[]> visitor) {
    inner.scan(keyPrefix, visitor);
  }

  /** Moves the checksums into the bucket that the checkpoint holds which was just written. */
  void spill() throws IOException, JetStreamApiException {
    for (String keyPrefix : erased) {
      Buckets.erase(bucket, management, bucketKey(keyPrefix) + "*");
    }
    erased.clear();
    Map<String, byte[]> checksums = new HashMap<>();
    inner.scan(Deduplicator.CHECKSUMS, checksums::put);
    for (Map.Entry<String, byte[]> entry : checksums.entrySet()) {
      bucket.put(bucketKey(entry.getKey()), entry.getValue());
      inner.delete(entry.getKey());
    }
  }

  private String bucketKey(String key) {
    return prefix + key.substring(Deduplicator.CHECKSUMS.length()).replace('/', '.');
  }
}
