package io.lifeline.codec;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;

/** Decompresses events into its own buffer, which never exceeds the format's limit. */
final class Decompressor {
  private byte[] restored = new byte[0];
  private byte[] shuffled = new byte[0];
  private LZ4SafeDecompressor lz4;

  /** Returns the decompressed events, from index 0; valid until the next call. */
  byte[] events() {
    return restored;
  }

  /** Decompresses the events at {@code at}; returns false if they do not yield as many bytes as the header says. */
  boolean restore(byte[] bytes, int at, BatchHeader header) {
    int rawLength = header.rawLength;
    int length = header.eventsLength;
    Compression compression = header.compression;
    restored = atLeast(restored, rawLength);
    if (header.shuffle == 0) {
      return decompress(bytes, at, length, compression, restored, rawLength);
    }
    shuffled = atLeast(shuffled, rawLength);
    if (!decompress(bytes, at, length, compression, shuffled, rawLength)) {
      return false;
    }
    int stride = Shuffle.strideOf(header.shuffle);
    Shuffle.unshuffle(shuffled, restored, rawLength, stride);
    if (Shuffle.hasTickDifferences(header.shuffle)) {
      TickDifferences.undo(restored, rawLength, stride, header.bigEndian);
    }
    return true;
  }

  private boolean decompress(byte[] bytes, int at, int length, Compression compression, byte[] to, int rawLength) {
    if (length == 0) {
      return false;
    }
    try {
      return compression == Compression.LZ4
          ? Lz4Block.isWellFormed(bytes, at, length, rawLength)
              && lz4().decompress(bytes, at, length, to, 0, rawLength) == rawLength
          : ZstdFrame.fills(bytes, at, length)
              && Zstd.decompressByteArray(to, 0, rawLength, bytes, at, length) == rawLength;
    } catch (LZ4Exception | ZstdException e) {
      return false;
    }
  }

  private LZ4SafeDecompressor lz4() {
    if (lz4 == null) {
      lz4 = LZ4Factory.fastestInstance().safeDecompressor();
    }
    return lz4;
  }

  private static byte[] atLeast(byte[] buffer, int length) {
    int roomy = Math.min(2 * length, BatchHeader.MAX_RAW_BYTES);
    return buffer.length >= length ? buffer : new byte[roomy];
  }
}
