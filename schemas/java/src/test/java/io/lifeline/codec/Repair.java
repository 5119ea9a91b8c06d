package io.lifeline.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** Repairs lengths and CRC of damaged batches, so that tests get past the first checks. */
final class Repair {
  private Repair() {}

  private static ByteOrder order(byte[] batch) {
    return batch[5] == 1 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
  }

  /** Writes the length and CRC that match the bytes. */
  static void crc(byte[] batch) {
    ByteBuffer buffer = ByteBuffer.wrap(batch).order(order(batch));
    buffer.putInt(56, batch.length);
    CRC32C crc = new CRC32C();
    crc.update(batch, 0, batch.length - BatchHeader.CRC_LENGTH);
    buffer.putInt(batch.length - BatchHeader.CRC_LENGTH, (int) crc.getValue());
  }

  /** Returns the batch with other raw events, compressed as its header says. */
  static byte[] withEvents(byte[] batch, byte[] rawEvents) {
    ByteBuffer buffer = ByteBuffer.wrap(batch).order(order(batch));
    int eventsAt = buffer.getInt(12) + buffer.getInt(60);
    byte[] stored =
        Compressor.compress(rawEvents, Compression.ofNumber(batch[6]), batch[7] & 0xff, batch[5] == 1);
    byte[] whole = new byte[eventsAt + stored.length + BatchHeader.CRC_LENGTH];
    System.arraycopy(batch, 0, whole, 0, eventsAt);
    System.arraycopy(stored, 0, whole, eventsAt, stored.length);
    ByteBuffer.wrap(whole).order(order(batch)).putInt(64, stored.length).putInt(68, rawEvents.length);
    crc(whole);
    return whole;
  }

  /** Returns the raw events of a valid batch. */
  static byte[] events(byte[] batch) throws RejectedBatchException {
    BatchReader reader = new BatchReader().read(batch, 0, batch.length);
    int length = reader.header().rawLength;
    int at = length == 0 ? 0 : reader.positions()[0];
    byte[] events = new byte[length];
    System.arraycopy(reader.raw(), at, events, 0, length);
    return events;
  }
}
