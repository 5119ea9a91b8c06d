package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.jetstream.CheckpointHead.DamagedException;
import io.lifeline.jobs.jetstream.CheckpointHead.Part;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.KeyValue;
import io.nats.client.api.KeyValueEntry;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;

/**
 * One task's checkpoint in the key-value bucket. It is written by compare-and-set on the revision of one entry, the
 * {@link CheckpointHead}, and a new owner writes it once before anything else: from then on every write by an earlier
 * owner fails. The epoch in it is checked as well, so that an owner cannot mistake a successor's entry for its own.
 *
 * <p>The entry holds what has changed in the state since the last <i>part</i>. Changes that have become too large for
 * it become a part themselves, and when all of them are as large as the first part, which is a whole checkpoint, a new
 * one replaces them. So a checkpoint costs about as much as has changed, however large the state is.
 *
 * <p>Parts are written first, in chunks under separate keys; then the entry that names them makes them valid; then
 * those that it no longer names are removed.
 *
 * <p>Used by one thread.
 */
final class CheckpointStore {

  /** Bytes reserved for headers and subject: the limit applies to the whole message. */
  private static final int MESSAGE_OVERHEAD = 4096;

  /** The changes in the entry are written again with each checkpoint, so they must be few. */
  private static final int MOST_IN_ENTRY = 64 << 10;

  private static final int MAX_PARTS = 32;

  private static final byte[] NOTHING = {};

  private final KeyValue bucket;
  private final JetStreamManagement management;
  private final String key;
  private final int chunkBytes;
  private final int entryBytes;

  private long epoch;
  private long revision;
  private List<Part> parts = List.of();
  private long writes;

  /** @param maxMessageBytes see {@link Buckets#maxValueBytes} */
  CheckpointStore(KeyValue bucket, JetStreamManagement management, String task, long maxMessageBytes) {
    this.bucket = bucket;
    this.management = management;
    this.key = task + ".checkpoint";
    this.chunkBytes = (int) Math.max(4096, Math.min(maxMessageBytes - MESSAGE_OVERHEAD, 1 << 20));
    this.entryBytes = Math.min(MOST_IN_ENTRY, chunkBytes / 2);
  }

  /** Reads the checkpoint and fences earlier owners. */
  Checkpoint takeOver(long newEpoch) throws IOException, JetStreamApiException {
    KeyValueEntry entry = bucket.get(key);
    revision = 0;
    parts = List.of();
    Checkpoint checkpoint = isAbsent(entry) ? Checkpoint.initial() : read(entry, newEpoch);
    epoch = newEpoch;
    write(checkpoint);
    // Not before: an earlier owner could still make chunks valid that it has just written.
    removeOrphans();
    return checkpoint;
  }

  /** Returns the checkpoint without taking it over; null if there is none. */
  Checkpoint look() throws IOException, JetStreamApiException {
    KeyValueEntry entry = bucket.get(key);
    return isAbsent(entry) ? null : read(entry, Long.MAX_VALUE);
  }

  boolean exists() throws IOException, JetStreamApiException {
    return !isAbsent(bucket.get(key));
  }

  private static boolean isAbsent(KeyValueEntry entry) {
    return entry == null || entry.getValue() == null;
  }

  /**
   * Replaces the checkpoint, or fails with {@link Lease.LostException} and changes nothing.
   *
   * @param checkpoint with the state of the one that was taken over
   */
  void write(Checkpoint checkpoint) throws IOException, JetStreamApiException {
    boolean isMost =
        !parts.isEmpty() && parts.get(0).bytes() > 4L * entryBytes && checkpoint.state().isMostlyChanged();
    byte[] changes = isMost ? NOTHING : deflate(checkpoint.encodeChanges());
    List<Part> newParts = parts;
    if (isMost || isWholeDue(changes)) {
      newParts = List.of(writePart(deflate(checkpoint.encode())));
    } else if (changes.length > entryBytes) {
      newParts = partsAnd(writePart(changes));
    }
    changes = newParts == parts ? changes : NOTHING;
    byte[] head = new CheckpointHead(epoch, newParts, changes).encode();
    try {
      revision = revision == 0 ? bucket.create(key, head) : bucket.update(key, head, revision);
    } catch (JetStreamApiException e) {
      if (Conflicts.isConflict(e)) {
        throw new Lease.LostException(key);
      }
      throw e;
    }
    if (newParts != parts) {
      checkpoint.state().markStored();
      List<Part> former = parts;
      parts = newParts;
      for (Part part : former) {
        if (!parts.contains(part)) {
          purge(key + "." + part.generation() + ".*");
        }
      }
    }
  }

  /** Returns whether the changes do not fit into the entry, and another part of them is not worth it. */
  private boolean isWholeDue(byte[] changes) {
    if (changes.length <= entryBytes) {
      return false;
    }
    long changed = parts.stream().skip(1).mapToLong(Part::bytes).sum() + changes.length;
    return parts.isEmpty() || parts.size() == MAX_PARTS || changed >= parts.get(0).bytes();
  }

  private List<Part> partsAnd(Part another) {
    return Stream.concat(parts.stream(), Stream.of(another)).toList();
  }

  private Part writePart(byte[] payload) throws IOException, JetStreamApiException {
    String generation = epoch + "-" + ++writes;
    int chunks = (payload.length + chunkBytes - 1) / chunkBytes;
    for (int i = 0; i < chunks; i++) {
      int end = Math.min(payload.length, (i + 1) * chunkBytes);
      bucket.put(chunkKey(generation, i), Arrays.copyOfRange(payload, i * chunkBytes, end));
    }
    return Part.of(generation, chunks, payload);
  }

  private Checkpoint read(KeyValueEntry entry, long newEpoch) throws IOException, JetStreamApiException {
    try {
      CheckpointHead head = CheckpointHead.decode(entry.getValue());
      if (head.epoch() >= newEpoch) {
        throw new Lease.LostException(key);
      }
      revision = entry.getRevision();
      parts = head.parts();
      Checkpoint checkpoint = Checkpoint.initial();
      for (Part part : parts) {
        byte[] payload = readChunks(part);
        part.check(payload);
        checkpoint = Checkpoint.decode(inflate(payload), checkpoint.state());
      }
      checkpoint.state().markStored();
      return head.changes().length == 0
          ? checkpoint
          : Checkpoint.decode(inflate(head.changes()), checkpoint.state());
    } catch (DamagedException e) {
      throw new IOException("the checkpoint " + key + " is damaged: another program wrote to its bucket", e);
    }
  }

  private byte[] readChunks(Part part) throws IOException, JetStreamApiException {
    ByteArrayOutputStream payload = new ByteArrayOutputStream();
    for (int i = 0; i < part.chunks(); i++) {
      KeyValueEntry chunk = bucket.get(chunkKey(part.generation(), i));
      if (chunk == null) {
        throw new IOException("the checkpoint " + key + " lacks its part " + (i + 1) + " of " + part.chunks());
      }
      payload.write(chunk.getValue());
    }
    return payload.toByteArray();
  }

  /**
   * Removes the chunks of a writer that died before it wrote the entry, or after that. A successor's are left alone:
   * the lease may have been lost since.
   */
  private void removeOrphans() throws IOException, JetStreamApiException {
    try {
      for (String chunk : bucket.keys(key + ".*.*")) {
        boolean isNamed = parts.stream().anyMatch(part -> chunk.startsWith(key + "." + part.generation() + "."));
        if (!isNamed && writersEpoch(chunk) <= epoch) {
          purge(chunk);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the checkpoint was read");
    }
  }

  private long writersEpoch(String chunk) {
    return Long.parseLong(chunk, key.length() + 1, chunk.indexOf('-', key.length()), 10);
  }

  private void purge(String keys) throws IOException, JetStreamApiException {
    Buckets.erase(bucket, management, keys);
  }

  private String chunkKey(String generation, int index) {
    return key + "." + generation + "." + index;
  }

  private static byte[] deflate(byte[] bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Deflater deflater = new Deflater(Deflater.BEST_SPEED);
    try (DeflaterOutputStream deflated = new DeflaterOutputStream(out, deflater)) {
      deflated.write(bytes);
    } finally {
      deflater.end();
    }
    return out.toByteArray();
  }

  private static byte[] inflate(byte[] bytes) throws IOException {
    try (InflaterInputStream in = new InflaterInputStream(new ByteArrayInputStream(bytes))) {
      return in.readAllBytes();
    }
  }
}
