package io.lifeline.codec;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TickDifferencesTest {

  private static final boolean[] BYTE_ORDERS = {false, true};

  @Test
  void bytesComeBackWhateverTheStrideAndTheRest() {
    Random random = new Random(2);
    byte[] bytes = new byte[2000];
    random.nextBytes(bytes);
    for (int stride = 8; stride <= 128; stride += 8) {
      for (int length : new int[] {0, 1, stride - 1, stride, 2 * stride, 9 * stride + 3, 1999}) {
        for (boolean bigEndian : BYTE_ORDERS) {
          byte[] rows = Arrays.copyOf(bytes, length);
          TickDifferences.take(rows, length, stride, bigEndian);
          TickDifferences.undo(rows, length, stride, bigEndian);
          assertThat(rows).as("stride %d, length %d", stride, length).isEqualTo(Arrays.copyOf(bytes, length));
        }
      }
    }
  }

  @Test
  void typesStayAndTicksAreThoseSinceTheRowBefore() {
    for (boolean bigEndian : BYTE_ORDERS) {
      byte[] rows = rows(bigEndian, 7L << 16 | 3, 5L << 16 | 2, -1, 0xffff);
      TickDifferences.take(rows, rows.length, 16, bigEndian);
      assertThat(rows)
          .isEqualTo(rows(bigEndian, 7L << 16 | 3, -2L << 16 | 2, -6L << 16 | 0xffff, 1L << 16 | 0xffff));
    }
  }

  @Test
  void aShuffleIsAStrideOrOneMore() {
    assertThat(List.of(0, 8, 9, 16, 17, 128, 129)).allMatch(Shuffle::isKnown);
    assertThat(List.of(1, 4, 10, 12, 136, 137, 255, -8)).noneMatch(Shuffle::isKnown);
  }

  private static byte[] rows(boolean bigEndian, long... words) {
    byte[] rows = new byte[16 * words.length];
    for (int row = 0; row < words.length; row++) {
      Bytes.putLong(rows, 16 * row, words[row], bigEndian);
    }
    return rows;
  }
}
