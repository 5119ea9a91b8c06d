package io.lifeline.codec;

import com.github.luben.zstd.Zstd;
import net.jpountz.lz4.LZ4Factory;

/** Shuffles and compresses an events section. */
final class Compressor {
  private static final int ZSTD_LEVEL = 3;

  private Compressor() {}

  static byte[] compress(byte[] events, Compression compression, int stride) {
    byte[] shuffled = events;
    if (stride > 0) {
      shuffled = new byte[events.length];
      Shuffle.shuffle(events, shuffled, events.length, stride);
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
