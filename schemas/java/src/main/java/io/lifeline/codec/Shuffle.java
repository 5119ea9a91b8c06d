package io.lifeline.codec;

/** The byte shuffle of FORMAT section 8: rows of {@code stride} bytes become columns. */
final class Shuffle {
  private Shuffle() {}

  static void shuffle(byte[] from, byte[] to, int length, int stride) {
    int rows = length / stride;
    for (int j = 0; j < stride; j++) {
      for (int i = 0; i < rows; i++) {
        to[j * rows + i] = from[i * stride + j];
      }
    }
    System.arraycopy(from, rows * stride, to, rows * stride, length - rows * stride);
  }

  static void unshuffle(byte[] from, byte[] to, int length, int stride) {
    int rows = length / stride;
    for (int j = 0; j < stride; j++) {
      for (int i = 0; i < rows; i++) {
        to[i * stride + j] = from[j * rows + i];
      }
    }
    System.arraycopy(from, rows * stride, to, rows * stride, length - rows * stride);
  }
}
