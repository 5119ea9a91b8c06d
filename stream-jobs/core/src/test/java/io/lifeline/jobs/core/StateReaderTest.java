package io.lifeline.jobs.core;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.cases.Cases;
import org.junit.jupiter.api.Test;

class StateReaderTest {

  @Test
  void readsWhatWasWritten() {
    Cases.each(1000, any -> {
      long number = any.number();
      Double real = any.real();
      byte[] blob = any.bytes(255);
      int word = any.between(Integer.MIN_VALUE, Integer.MAX_VALUE);
      String text = new String(any.text(255).getBytes(UTF_8), UTF_8);
      StateWriter out = new StateWriter().version(3).varint(number).zigzag(number).real(real).blob(blob);
      StateReader in = new StateReader(out.fixed32(word).text(text).toBytes()).version(3);
      assertThat(in.varint()).isEqualTo(number);
      assertThat(in.zigzag()).isEqualTo(number);
      assertThat(in.real()).isEqualTo(real);
      assertThat(in.blob()).isEqualTo(blob);
      assertThat(in.fixed32()).isEqualTo(word);
      assertThat(in.text()).isEqualTo(text);
      assertThat(in.atEnd()).isTrue();
    });
  }

  @Test
  void neverReadsBeyondItsBytes() {
    Cases.each(1000, any -> {
      StateWriter numbers = new StateWriter();
      any.list(0, 50, any::number).forEach(numbers::varint);
      StateReader in = new StateReader(any.of(any.bytes(255), numbers.toBytes()));
      try {
        while (!in.atEnd()) {
          in.blob();
        }
      } catch (StateReader.CorruptStateException e) {
        assertThat(e.getMessage()).contains("state");
      }
    });
  }

  @Test
  void tellsALaterReleasesStateFromOneThatIsTooOld() {
    byte[] second = new StateWriter().version(2).toBytes();
    assertThatThrownBy(() -> new StateReader(second).version(1))
        .isInstanceOf(StateReader.NewerStateException.class)
        .hasMessageStartingWith("a later release wrote the state (layout 2, this release reads up to 1): run that ")
        .hasMessageContainingAll("nats.bucket", "kafka.application.id");
    assertThatThrownBy(() -> new StateReader(second).versions(3, 4))
        .isNotInstanceOf(StateReader.NewerStateException.class)
        .hasMessageStartingWith("the state has layout 2, and this release reads none before 3: run an earlier release");
    assertThat(new StateReader(second).versions(1, 3)).isEqualTo(2);
  }

  @Test
  void refusesACountThatItsBytesCannotHold() {
    byte[] lie = new StateWriter().varint(Integer.MAX_VALUE).toBytes();
    assertThatThrownBy(() -> new StateReader(lie).count(8)).hasMessage("state counts more entries than it holds");
  }
}
