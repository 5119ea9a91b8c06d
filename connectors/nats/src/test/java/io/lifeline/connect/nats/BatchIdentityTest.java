package io.lifeline.connect.nats;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.Incarnation;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class BatchIdentityTest {

  @Test
  void isReadFromTheFixedPartOfTheHeader() {
    assertThat(BatchIdentity.of(Batches.batch(7))).isEqualTo(new BatchIdentity(new Incarnation(1, 2), 0, 7));
    assertThat(BatchIdentity.of(Batches.batch(7)).messageId()).isEqualTo("00000000000000010000000000000002-0-7");
    assertThat(BatchIdentity.of(Arrays.copyOf(Batches.batch(7), 50))).isNull();
    assertThat(BatchIdentity.of(new byte[200])).isNull();
    assertThat(BatchIdentity.of(null)).isNull();
  }

  /** The same two as in the emitter's own tests. */
  @Test
  void theSubjectIsTheOneThatAnEmitterChooses() {
    assertThat(new BatchIdentity(new Incarnation(0, 0), 0, 1).subjectNumber()).isEqualTo(5);
    assertThat(new BatchIdentity(new Incarnation(0xffL << 56, 0), 0, 1).subjectNumber()).isEqualTo(10);
  }
}
