package io.lifeline.ksql;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.apache.kafka.connect.data.Struct;
import org.junit.jupiter.api.Test;

class BatchFunctionTest {

  private final BatchFunction function = new BatchFunction();

  @Test
  void tellsWhoSentTheBatchAndItsPlaceInTheSequence() {
    ByteBuffer batch = Samples.mixed();
    Struct header = function.header(batch);
    assertThat(header)
        .isEqualTo(
            new Struct(BatchFunction.SCHEMA)
                .put("INCARNATION", "000000000000abcd0000000000000001")
                .put("ROUTE", 0)
                .put("SEQUENCE", 3L)
                .put("HOST", "host-1")
                .put("PROGRAM", "copy")
                .put("PID", 42L)
                .put("EVENTS", 2)
                .put("BYTES", batch.remaining())
                .put("FINAL", false)
                .put("RECOVERED", false));
  }

  @Test
  void tellsWhyBytesAreNoBatch() {
    Struct header = function.header(ByteBuffer.wrap(new byte[5]));
    assertThat(header.getString("ERROR")).isEqualTo("truncated at offset 5");
    assertThat(header.getInt32("BYTES")).isEqualTo(5);
    assertThat(header.get("SEQUENCE")).isNull();
  }

  @Test
  void isNullOfNull() {
    assertThat(function.header(null)).isNull();
  }
}
