package io.lifeline.codec;

import com.github.luben.zstd.Zstd;
import net.jpountz.lz4.LZ4Factory;

/** Shuffles and compresses an events section. */
final class Compressor {
  private static final int ZSTD_LEVEL = 3;

  private Compressor() {}

  static byte[] compress(byte[] events, Compression compression, int shuffle, boolean bigEndian) {
    int stride = Shuffle.strideOf(shuffle);
    byte[] rows = events;
    if (Shuffle.hasTickDifferences(shuffle)) {
      rows = events.clone();
      TickDifferences.take(rows, rows.length, stride, bigEndian);
    }
    byte[] shuffled = rows;
    if (stride > 0) {
      shuffled = new byte[rows.length];
      Shuffle.shuffle(rows, shuffled, rows.length, stride);
    }
    switch (compression) {
      case LZ4:
        return LZ4Factory.fastestInstance().fastCompressor().compress(shuffled);
      case ZSTD:
        return Zstd.compress(shuffled, ZSTD_LEVEL);
      default:
        return events;
    }
  }
}
