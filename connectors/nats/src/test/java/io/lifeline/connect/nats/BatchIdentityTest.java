package io.lifeline.connect.nats;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Incarnation;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BatchIdentityTest {

  @Test
  void isReadFromTheFixedPartOfTheHeader() {
    byte[] batch = Batches.batch(7);
    int ending = ByteBuffer.wrap(batch).getInt(batch.length - 4);
    assertThat(BatchIdentity.of(batch)).isEqualTo(new BatchIdentity(new Incarnation(1, 2), 0, 7, ending));
    assertThat(BatchIdentity.of(batch).messageId())
        .isEqualTo("00000000000000010000000000000002-0-7-%08x".formatted(ending));
    assertThat(BatchIdentity.of(Arrays.copyOf(Batches.batch(7), 50))).isNull();
    assertThat(BatchIdentity.of(new byte[200])).isNull();
    assertThat(BatchIdentity.of(null)).isNull();
  }

  /** The source gives bytes on as they are; the identity is all that it looks at, and goes into a key and a header. */
  @Test
  void isThatOfHostileBatchesAndOfNoneOfTheirNames() throws Exception {
    try (Stream<Path> files = Files.list(Path.of("..", "..", "schemas", "vectors", "hostile"))) {
      for (Path file : files.filter(each -> each.toString().endsWith(".llb")).toList()) {
        byte[] bytes = Files.readAllBytes(file);
        BatchReader batch = new BatchReader().read(bytes, 0, bytes.length);
        BatchIdentity identity = BatchIdentity.of(bytes);
        assertThat(identity).as("%s", file)
            .isEqualTo(new BatchIdentity(
                batch.incarnation(), batch.route(), batch.sequence(), ByteBuffer.wrap(bytes).getInt(bytes.length - 4)));
        assertThat(identity.messageId()).matches("[0-9a-f]{32}-[0-9]{1,5}-[0-9]{1,20}-[0-9a-f]{8}");
        assertThat(identity.subjectNumber()).isBetween(0, 15);
        assertThat(BatchIdentity.keyOf(bytes)).hasSize(32);
      }
    }
  }

  /** The same two as in the emitter's own tests. */
  @Test
  void theSubjectIsTheOneThatAnEmitterChooses() {
    assertThat(new BatchIdentity(new Incarnation(0, 0), 0, 1, 0).subjectNumber()).isEqualTo(5);
    assertThat(new BatchIdentity(new Incarnation(0xffL << 56, 0), 0, 1, 0).subjectNumber()).isEqualTo(10);
  }
}
