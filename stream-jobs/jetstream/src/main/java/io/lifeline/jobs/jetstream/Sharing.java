package io.lifeline.jobs.jetstream;

import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.KeyValue;
import io.nats.client.api.KeyValueEntry;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Divides the groups of one job evenly: an instance holds at most its fair share, and releases the excess when another
 * instance starts. Each instance announces itself by a bucket key that it rewrites periodically. Leases alone decide
 * which instance works on which group, so a wrong count affects only the balance.
 *
 * <p>Used by the threads of the job's tasks.
 */
final class Sharing {

  private record Seen(long revision, long sinceNs) {}

  private final Supplier<KeyValue> bucket;
  private final Supplier<JetStreamManagement> management;
  private final Owner owner;
  private final String prefix;
  private final String ownKey;
  private final int groups;
  private final long lengthNs;
  private final LongSupplier nanoTime;
  private final Map<String, Seen> others = new HashMap<>();

  private long nextLookNs;
  private int instances = 1;
  private int held;
  private int leaving;
  private boolean isWithdrawn;

  /**
   * @param bucket in the current connection, as {@code management}
   * @param length how long a silent instance still counts, measured by this instance's clock
   */
  Sharing(
      Supplier<KeyValue> bucket,
      Supplier<JetStreamManagement> management,
      Owner owner,
      String job,
      int groups,
      Duration length,
      LongSupplier nanoTime) {
    this.bucket = bucket;
    this.management = management;
    this.owner = owner;
    this.prefix = job + "-of-" + groups + ".instance.";
    this.ownKey = prefix + UUID.randomUUID();
    this.groups = groups;
    this.lengthNs = length.toNanos();
    this.nanoTime = nanoTime;
    this.nextLookNs = nanoTime.getAsLong();
  }

  /** Creates the turn of one group. */
  ShardQuota turn() {
    return new GroupTurn();
  }

  /** Announces that this instance no longer counts. */
  synchronized void leave() throws IOException, JetStreamApiException {
    Buckets.erase(bucket.get(), management.get(), ownKey);
  }

  /** From now on the others share all groups as if this instance did not run; it takes those that are free. */
  private synchronized void withdraw() throws IOException, JetStreamApiException {
    isWithdrawn = true;
    leave();
  }

  private int fairPart() {
    return (groups + instances - 1) / instances;
  }

  private synchronized boolean tryHold() throws IOException, JetStreamApiException {
    lookIfDue();
    if (held >= fairPart()) {
      return false;
    }
    held++;
    return true;
  }

  /** Returns true once for each group in excess of the fair share. */
  private synchronized boolean shouldLeave() throws IOException, JetStreamApiException {
    lookIfDue();
    if (held - leaving <= fairPart()) {
      return false;
    }
    leaving++;
    return true;
  }

  private synchronized void letGo(boolean left) {
    held--;
    leaving -= left ? 1 : 0;
  }

  private void lookIfDue() throws IOException, JetStreamApiException {
    long now = nanoTime.getAsLong();
    if (now - nextLookNs < 0) {
      return;
    }
    nextLookNs = now + lengthNs / 4;
    if (!isWithdrawn) {
      bucket.get().put(ownKey, owner.toString());
    }
    int alive = 1;
    for (String key : keys()) {
      if (!key.equals(ownKey) && isAlive(key, now)) {
        alive++;
      }
    }
    instances = alive;
  }

  private List<String> keys() throws IOException, JetStreamApiException {
    try {
      return bucket.get().keys(prefix + "*");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while looking for other instances");
    }
  }

  private boolean isAlive(String key, long now) throws IOException, JetStreamApiException {
    KeyValueEntry entry = bucket.get().get(key);
    if (entry == null || entry.getValue() == null) {
      return false;
    }
    Seen seen = others.get(key);
    if (seen == null || seen.revision() != entry.getRevision()) {
      seen = new Seen(entry.getRevision(), now);
      others.put(key, seen);
    }
    boolean isDead =
        now - seen.sinceNs() >= lengthNs || Owner.hasEnded(new String(entry.getValue(), StandardCharsets.UTF_8));
    if (isDead) {
      others.remove(key);
      Buckets.erase(bucket.get(), management.get(), key);
    }
    return !isDead;
  }

  private final class GroupTurn implements ShardQuota {
    private boolean left;

    @Override
    public boolean take() throws IOException, JetStreamApiException {
      left = false;
      return tryHold();
    }

    @Override
    public boolean isOver() throws IOException, JetStreamApiException {
      left = left || shouldLeave();
      return left;
    }

    @Override
    public void end() {
      letGo(left);
    }

    @Override
    public void withdraw() throws IOException, JetStreamApiException {
      Sharing.this.withdraw();
    }
  }
}
