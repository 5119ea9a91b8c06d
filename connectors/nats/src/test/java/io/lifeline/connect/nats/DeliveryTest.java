package io.lifeline.connect.nats;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DeliveryTest {

  private static final Delivery EXPECTED = new Delivery("consumer", 17, 5, 1_700_000_000_123_456_789L, 3);

  @Test
  void readsReplySubjectsWithAndWithoutADomain() {
    assertThat(Delivery.parse("$JS.ACK.STREAM.consumer.1.17.5.1700000000123456789.3")).isEqualTo(EXPECTED);
    assertThat(Delivery.parse("$JS.ACK.hub.ACCOUNT.STREAM.consumer.1.17.5.1700000000123456789.3")).isEqualTo(EXPECTED);
  }

  @Test
  void otherReplySubjectsAreNone() {
    assertThat(Delivery.parse(null)).isNull();
    assertThat(Delivery.parse("_INBOX.a.b")).isNull();
    assertThat(Delivery.parse("$JS.ACK.")).isNull();
    assertThat(Delivery.parse("$JS.ACK.STREAM.consumer.1.x.5.1700000000123456789.3")).isNull();
  }
}
