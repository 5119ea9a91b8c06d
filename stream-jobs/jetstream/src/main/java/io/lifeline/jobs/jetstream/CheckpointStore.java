package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.KeyValue;
import io.nats.client.api.KeyValueEntry;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Arrays;
import java.util.zip.CRC32C;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;

/**
 * One task's checkpoint in the key-value bucket. It is written by compare-and-set on the entry's revision, and a new
 * owner writes it once before anything else: from then on every write by an earlier owner fails. The epoch in it is
 * checked as well, so that an owner cannot mistake a successor's entry for its own.
 *
 * <p>A checkpoint larger than the maximum message size is split into chunks under separate keys. The chunks are written
 * first, then the entry that names them makes them valid, and then the chunks of the previous checkpoint are removed.
 *
 * <p>Used by one thread.
 */
final class CheckpointStore {

  /** Bytes reserved for headers and subject: the server's limit applies to the whole message. */
  private static final int MESSAGE_OVERHEAD = 4096;

  private final KeyValue bucket;
  private final JetStreamManagement management;
  private final String key;
  private final int chunkBytes;

  private long epoch;
  private long revision;
  /**
   * Part of the chunk keys. It includes the epoch, so a writer that lost its lease never touches its successor's
   * chunks.
   */
  private String generation = "";

  private long writes;
  private int chunks;

  /** @param maxMessageBytes maximum message size of the server */
  CheckpointStore(KeyValue bucket, JetStreamManagement management, String task, long maxMessageBytes) {
    this.bucket = bucket;
    this.management = management;
    this.key = task + ".checkpoint";
    this.chunkBytes = (int) Math.max(1024, Math.min(maxMessageBytes - MESSAGE_OVERHEAD, 1 << 20));
  }

  /** Reads the checkpoint and fences earlier owners. */
  Checkpoint takeOver(long newEpoch) throws IOException, JetStreamApiException {
    KeyValueEntry entry = bucket.get(key);
    Checkpoint checkpoint = Checkpoint.initial();
    revision = 0;
    chunks = 0;
    if (entry != null && entry.getValue() != null) {
      checkpoint = read(entry, newEpoch);
      removeOrphans();
    }
    epoch = newEpoch;
    write(checkpoint);
    return checkpoint;
  }

  /** Returns the checkpoint without taking it over; null if there is none. */
  Checkpoint look() throws IOException, JetStreamApiException {
    KeyValueEntry entry = bucket.get(key);
    return entry == null || entry.getValue() == null ? null : read(entry, Long.MAX_VALUE);
  }

  /** Replaces the checkpoint, or fails with {@link Lease.LostException} and changes nothing. */
  void write(Checkpoint checkpoint) throws IOException, JetStreamApiException {
    byte[] payload = deflate(checkpoint.encode());
    int newChunks = (payload.length + chunkBytes - 1) / chunkBytes;
    String newGeneration = epoch + "-" + ++writes;
    StateWriter head = new StateWriter().version(1).varint(epoch).text(newGeneration).fixed32(checksum(payload));
    if (payload.length <= chunkBytes - 64) {
      newChunks = 0;
      head.varint(0).blob(payload);
    } else {
      for (int i = 0; i < newChunks; i++) {
        int end = Math.min(payload.length, (i + 1) * chunkBytes);
        bucket.put(chunkKey(newGeneration, i), Arrays.copyOfRange(payload, i * chunkBytes, end));
      }
      head.varint(newChunks);
    }
    try {
      revision = revision == 0 ? bucket.create(key, head.toBytes()) : bucket.update(key, head.toBytes(), revision);
    } catch (JetStreamApiException e) {
      if (Conflicts.isConflict(e)) {
        throw new Lease.LostException(key);
      }
      throw e;
    }
    if (chunks > 0) {
      removeChunks(generation);
    }
    generation = newGeneration;
    chunks = newChunks;
  }

  private Checkpoint read(KeyValueEntry entry, long newEpoch) throws IOException, JetStreamApiException {
    StateReader head = new StateReader(entry.getValue()).version(1);
    if (head.varint() >= newEpoch) {
      throw new Lease.LostException(key);
    }
    revision = entry.getRevision();
    generation = head.text();
    int checksum = head.fixed32();
    chunks = (int) head.varint();
    byte[] payload = chunks == 0 ? head.blob() : readChunks();
    if (checksum(payload) != checksum) {
      throw new IOException("the checkpoint " + key + " is damaged: another program wrote to its bucket");
    }
    return Checkpoint.decode(inflate(payload));
  }

  private byte[] readChunks() throws IOException, JetStreamApiException {
    ByteArrayOutputStream payload = new ByteArrayOutputStream();
    for (int i = 0; i < chunks; i++) {
      KeyValueEntry chunk = bucket.get(chunkKey(generation, i));
      if (chunk == null) {
        throw new IOException("the checkpoint " + key + " lacks its part " + (i + 1) + " of " + chunks);
      }
      payload.write(chunk.getValue());
    }
    return payload.toByteArray();
  }

  /** Removes the chunks of a writer that died before it wrote the entry. */
  private void removeOrphans() throws IOException, JetStreamApiException {
    try {
      for (String chunk : bucket.keys(key + ".*.*")) {
        if (chunks == 0 || !chunk.startsWith(key + "." + generation + ".")) {
          purge(chunk);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the checkpoint was read");
    }
  }

  private void removeChunks(String ofGeneration) throws IOException, JetStreamApiException {
    purge(key + "." + ofGeneration + ".*");
  }

  private void purge(String keys) throws IOException, JetStreamApiException {
    Buckets.erase(bucket, management, keys);
  }

  private String chunkKey(String ofGeneration, int index) {
    return key + "." + ofGeneration + "." + index;
  }

  private static int checksum(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
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
