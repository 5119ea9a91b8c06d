package io.lifeline.connect.nats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.json.JsonConverter;
import org.junit.jupiter.api.Test;

class SourcePositionTest {

  @Test
  void aPartitionThatAUserWritesIsFoundAgain() {
    JsonConverter converter = new JsonConverter();
    converter.configure(Map.of("schemas.enable", "false"), true);
    byte[] stored = converter.fromConnectData("", null, SourcePosition.partition("ORDERS", "orders.>"));
    for (String written :
        new String[] {
          "{\"stream\": \"ORDERS\", \"filter\": \"orders.>\"}", "{\"filter\": \"orders.>\", \"stream\": \"ORDERS\"}"
        }) {
      Object read = converter.toConnectData("", written.getBytes(StandardCharsets.UTF_8)).value();
      assertThat(converter.fromConnectData("", null, read)).isEqualTo(stored);
    }
  }

  @Test
  void anOffsetIsOneSequence() {
    assertThat(SourcePosition.sequence(SourcePosition.offset(1L << 40, 5))).isEqualTo(1L << 40);
    assertThat(SourcePosition.sequence(Map.of("sequence", 7))).isEqualTo(7);
    assertThatThrownBy(() -> SourcePosition.sequence(Map.of("sequence", -1))).isInstanceOf(ConnectException.class);
    assertThatThrownBy(() -> SourcePosition.sequence(Map.of("sequence", "7"))).isInstanceOf(ConnectException.class);
    assertThatThrownBy(() -> SourcePosition.sequence(Map.of("sequence", 7, "more", 1)))
        .isInstanceOf(ConnectException.class)
        .hasMessageStartingWith("an offset of this connector is {\"sequence\": N}");
  }
}
