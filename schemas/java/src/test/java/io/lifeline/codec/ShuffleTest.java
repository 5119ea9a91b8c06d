package io.lifeline.codec;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ShuffleTest {

  @Test
  void bytesComeBackWhateverTheStrideAndTheRest() {
    Random random = new Random(1);
    byte[] bytes = new byte[2000];
    random.nextBytes(bytes);
    for (int stride = 8; stride <= 128; stride += 8) {
      for (int length : new int[] {0, 1, stride - 1, stride, 7 * stride, 8 * stride, 9 * stride + 3, 1999}) {
        byte[] shuffled = new byte[length];
        byte[] back = new byte[length];
        Shuffle.shuffle(bytes, shuffled, length, stride);
        Shuffle.unshuffle(shuffled, back, length, stride);
        assertThat(back).as("stride %d, length %d", stride, length).isEqualTo(Arrays.copyOf(bytes, length));
      }
    }
  }

  @Test
  void rowsBecomeColumns() {
    byte[] shuffled = new byte[18];
    byte[] rows = {0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 99, 98};
    Shuffle.shuffle(rows, shuffled, rows.length, 8);
    assertThat(shuffled).containsExactly(0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16, 7, 17, 99, 98);
  }
}
