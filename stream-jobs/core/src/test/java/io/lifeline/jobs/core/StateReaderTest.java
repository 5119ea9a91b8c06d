package io.lifeline.jobs.core;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class StateReaderTest {

  @Property(seed = "1")
  void readsWhatWasWritten(
      @ForAll long number, @ForAll double real, @ForAll byte[] blob, @ForAll int word, @ForAll String text) {
    String encodable = new String(text.getBytes(UTF_8), UTF_8);
    StateWriter out = new StateWriter().version(3).varint(number).zigzag(number).real(real).blob(blob);
    byte[] bytes = out.fixed32(word).text(encodable).toBytes();
    StateReader in = new StateReader(bytes).version(3);
    assertThat(in.varint()).isEqualTo(number);
    assertThat(in.zigzag()).isEqualTo(number);
    assertThat(in.real()).isEqualTo(real);
    assertThat(in.blob()).isEqualTo(blob);
    assertThat(in.fixed32()).isEqualTo(word);
    assertThat(in.text()).isEqualTo(encodable);
    assertThat(in.atEnd()).isTrue();
  }

  @Property(seed = "1")
  void neverReadsBeyondItsBytes(@ForAll byte[] bytes) {
    StateReader in = new StateReader(bytes);
    try {
      while (!in.atEnd()) {
        in.blob();
      }
    } catch (StateReader.CorruptStateException e) {
      assertThat(e.getMessage()).contains("state");
    }
  }

  @Test
  void refusesAnotherVersion() {
    assertThatThrownBy(() -> new StateReader(new StateWriter().version(2).toBytes()).version(1))
        .hasMessageStartingWith("the state is that of another release (layout 2, this one reads 1): go on with that")
        .hasMessageContainingAll("nats.bucket", "kafka.application.id");
  }

  @Test
  void refusesACountThatItsBytesCannotHold() {
    byte[] lie = new StateWriter().varint(Integer.MAX_VALUE).toBytes();
    assertThatThrownBy(() -> new StateReader(lie).count(8)).hasMessage("state counts more entries than it holds");
  }
}
