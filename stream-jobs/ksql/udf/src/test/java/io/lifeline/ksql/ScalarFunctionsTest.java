package io.lifeline.ksql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.cases.Cases;
import java.time.format.DateTimeParseException;
import org.junit.jupiter.api.Test;

class ScalarFunctionsTest {

  private final TimeFunction time = new TimeFunction();
  private final NanosFunction nanos = new NanosFunction();
  private final UnsignedFunction unsigned = new UnsignedFunction();

  @Test
  void writesATimeToTheNanosecond() {
    assertThat(time.time(Samples.START_NS + 1)).isEqualTo("2023-11-14T22:13:20.000000001Z");
    assertThat(time.time(-1L)).isEqualTo("1969-12-31T23:59:59.999999999Z");
  }

  @Test
  void readsBackEveryTimeThatItWrites() {
    Cases.each(1000, any -> {
      long ns = any.number();
      assertThat(nanos.nanos(time.time(ns))).isEqualTo(ns);
    });
  }

  @Test
  void refusesWhatIsNoTime() {
    assertThatThrownBy(() -> nanos.nanos("yesterday")).isInstanceOf(DateTimeParseException.class);
  }

  @Test
  void writesTheUpperHalfOfUnsignedNumbersWithoutASign() {
    assertThat(unsigned.unsigned(-1L)).isEqualTo("18446744073709551615");
    assertThat(unsigned.unsigned(7L)).isEqualTo("7");
  }

  @Test
  void areNullOfNull() {
    assertThat(time.time(null)).isNull();
    assertThat(nanos.nanos(null)).isNull();
    assertThat(unsigned.unsigned(null)).isNull();
  }
}
