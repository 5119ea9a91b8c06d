package io.lifeline.ksql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import java.nio.ByteBuffer;
import java.util.List;
import org.apache.kafka.connect.data.Struct;
import org.junit.jupiter.api.Test;

class EventsFunctionTest {

  private final EventsFunction function = new EventsFunction();

  @Test
  void makesARowOfEachEvent() {
    List<Struct> rows = function.events(Samples.mixed());
    assertThat(rows).hasSize(2);
    Struct first = rows.get(0);
    assertThat(first.getString("TS")).isEqualTo("2023-11-14T22:13:20.000000005Z");
    assertThat(first.getInt64("TS_NS")).isEqualTo(Samples.START_NS + 5);
    assertThat(first.getString("TYPE")).isEqualTo("mixed");
    assertThat(first.getString("LEVEL")).isEqualTo("info");
    assertThat(first.getString("HOST")).isEqualTo("host-1");
    assertThat(first.getString("PROGRAM")).isEqualTo("copy");
  }

  @Test
  void writesFieldsAndConstantsAsTextThatACastReadsBack() {
    assertThat(function.events(Samples.mixed()).get(0).<String, String>getMap("FIELDS"))
        .containsExactly(
            entry("unit", "bay 4"),
            entry("id", "18446744073709551615"),
            entry("i32", "-7"),
            entry("f32", "0.1"),
            entry("f64", "2.5"),
            entry("name", "a\"b"),
            entry("ok", "true"),
            entry("raw", "00ab"));
  }

  @Test
  void hasTheFieldCalledIdAsAColumnOfItsOwn() {
    List<Struct> rows = function.events(Samples.mixed());
    assertThat(rows.get(0).getString("ID")).isEqualTo("18446744073709551615");
    assertThat(rows.get(1).getString("ID")).isNull();
    assertThat(rows.get(1).<String, String>getMap("FIELDS")).containsExactly(entry("load", "NaN"));
  }

  @Test
  void readsOnlyWhatLiesBetweenPositionAndLimitAndLeavesThemAlone() {
    ByteBuffer batch = Samples.mixed();
    ByteBuffer within = ByteBuffer.allocate(batch.remaining() + 20).position(7).put(batch).flip().position(7);
    assertThat(function.events(within)).hasSize(2);
    assertThat(within.position()).isEqualTo(7);
    assertThat(function.events(within.asReadOnlyBuffer())).hasSize(2);
  }

  @Test
  void makesNoRowsOfNothing() {
    assertThat(function.events(null)).isEmpty();
  }

  @Test
  void refusesWhatIsNoBatchWithCodeAndOffsetButNotTheBytes() {
    ByteBuffer batch = Samples.mixed();
    batch.put(batch.limit() - 1, (byte) (batch.get(batch.limit() - 1) ^ 1));
    assertThatThrownBy(() -> function.events(batch))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("bad_crc at ")
        .message()
        .doesNotContain("bay 4");
  }
}
