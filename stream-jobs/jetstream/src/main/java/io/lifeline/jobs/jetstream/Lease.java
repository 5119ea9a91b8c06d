package io.lifeline.jobs.jetstream;

import io.nats.client.JetStreamApiException;
import io.nats.client.KeyValue;
import io.nats.client.api.KeyValueEntry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.function.LongSupplier;

/**
 * The exclusive right to work on one task, stored as a key-value entry {@code epoch owner}. An instance takes it if the
 * owner released it, is known to be dead, or did not renew it for the lease's length. Each taker measures that by its
 * own clock, so clocks need not agree. Each acquisition raises the epoch. A short overlap of two owners is harmless:
 * see {@link CheckpointStore}.
 *
 * <p>Used by one thread.
 */
final class Lease {

  /** Another owner has taken the lease. */
  static final class LostException extends IOException {
    LostException(String key) {
      super("another instance has taken over " + key);
    }
  }

  private static final String NOBODY = "-";

  private final KeyValue bucket;
  private final String key;
  private final Owner owner;
  private final long lengthNs;
  private final LongSupplier nanoTime;

  private long revision;
  private long epoch;
  private long renewedNs;
  /** When the entry with {@link #revision} was first seen. */
  private long unchangedSinceNs;

  Lease(KeyValue bucket, String task, Owner owner, Duration length, LongSupplier nanoTime) {
    this.bucket = bucket;
    this.key = task + ".lease";
    this.owner = owner;
    this.lengthNs = length.toNanos();
    this.nanoTime = nanoTime;
  }

  /** Tries once to acquire the lease; returns the epoch on success. */
  OptionalLong tryAcquire() throws IOException, JetStreamApiException {
    KeyValueEntry entry = bucket.get(key);
    if (entry == null) {
      return take(1, () -> bucket.create(key, value(1, owner.toString())));
    }
    String[] value = new String(entry.getValue(), StandardCharsets.UTF_8).split(" ", 2);
    long now = nanoTime.getAsLong();
    if (entry.getRevision() != revision) {
      revision = entry.getRevision();
      unchangedSinceNs = now;
    }
    if (!isFree(value[1]) && now - unchangedSinceNs < lengthNs) {
      return OptionalLong.empty();
    }
    long next = Long.parseLong(value[0]) + 1;
    return take(next, () -> bucket.update(key, value(next, owner.toString()), entry.getRevision()));
  }

  /** Renews the lease once a third of its length has passed; call it often. */
  void renewIfDue() throws IOException, JetStreamApiException {
    if (nanoTime.getAsLong() - renewedNs >= lengthNs / 3) {
      renew();
    }
  }

  void renew() throws IOException, JetStreamApiException {
    write(owner.toString());
  }

  /** Releases the lease, so that other instances can take it at once. */
  void release() throws IOException, JetStreamApiException {
    write(NOBODY);
  }

  /** Returns whether the lease can be taken at once; a failed session of this owner does not release it. */
  private boolean isFree(String holder) {
    return holder.equals(NOBODY) || holder.equals(owner.toString()) || Owner.hasEnded(holder);
  }

  private void write(String holder) throws IOException, JetStreamApiException {
    long now = nanoTime.getAsLong();
    try {
      revision = bucket.update(key, value(epoch, holder), revision);
      renewedNs = now;
    } catch (JetStreamApiException e) {
      if (Conflicts.isConflict(e)) {
        throw new LostException(key);
      }
      throw e;
    }
  }

  private interface Write {
    long run() throws IOException, JetStreamApiException;
  }

  private OptionalLong take(long newEpoch, Write write) throws IOException, JetStreamApiException {
    long now = nanoTime.getAsLong();
    try {
      revision = write.run();
    } catch (JetStreamApiException e) {
      if (Conflicts.isConflict(e)) {
        return OptionalLong.empty();
      }
      throw e;
    }
    epoch = newEpoch;
    renewedNs = now;
    return OptionalLong.of(epoch);
  }

  private static byte[] value(long epoch, String holder) {
    return (epoch + " " + holder).getBytes(StandardCharsets.UTF_8);
  }
}
