package io.lifeline.codec;

/**
 * Measures a zstd frame (RFC 8878, section 3.1.1). The library also accepts several frames, skippable ones, or none; a
 * batch holds exactly one.
 */
final class ZstdFrame {
  private static final int MAGIC = 0xfd2fb528;
  private static final int RLE_BLOCK = 1;

  private ZstdFrame() {}

  /** Returns whether exactly one frame fills the {@code length} bytes at {@code at}, according to its block headers. */
  static boolean fills(byte[] bytes, int at, int length) {
    int end = at + length;
    if (length < 6 || Bytes.getInt(bytes, at, false) != MAGIC) {
      return false;
    }
    int descriptor = bytes[at + 4] & 0xff;
    boolean singleSegment = (descriptor & 0x20) != 0;
    boolean checksum = (descriptor & 0x04) != 0;
    int contentSizeFlag = descriptor >>> 6;
    int contentSizeBytes = contentSizeFlag == 0 ? (singleSegment ? 1 : 0) : 1 << contentSizeFlag;
    int dictionaryBytes = new int[] {0, 1, 2, 4}[descriptor & 3];
    int block = at + 5 + (singleSegment ? 0 : 1) + dictionaryBytes + contentSizeBytes;
    boolean last = false;
    while (!last) {
      if (block + 3 > end) {
        return false;
      }
      int header = bytes[block] & 0xff | (bytes[block + 1] & 0xff) << 8 | (bytes[block + 2] & 0xff) << 16;
      last = (header & 1) != 0;
      block += 3 + ((header >>> 1 & 3) == RLE_BLOCK ? 1 : header >>> 3);
    }
    return block + (checksum ? 4 : 0) == end;
  }
}
