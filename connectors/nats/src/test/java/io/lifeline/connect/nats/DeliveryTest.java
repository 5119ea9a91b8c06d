package io.lifeline.connect.nats;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DeliveryTest {

  @Test
  void readsReplySubjectsWithAndWithoutADomain() {
    for (String prefix : new String[] {"$JS.ACK.STREAM.", "$JS.ACK.hub.ACCOUNT.STREAM."}) {
      Delivery delivery = Delivery.parse(prefix + "consumer.1.17.5.1700000000123456789.30");
      assertThat(delivery.isTo("consumer")).isTrue();
      assertThat(delivery.isTo("consumer2")).isFalse();
      assertThat(delivery.isTo("onsumer")).isFalse();
      assertThat(delivery.isTo(null)).isFalse();
      assertThat(delivery.streamSequence()).isEqualTo(17);
      assertThat(delivery.consumerSequence()).isEqualTo(5);
      assertThat(delivery.timeNs()).isEqualTo(1_700_000_000_123_456_789L);
      assertThat(delivery.pending()).isEqualTo(30);
    }
  }

  @Test
  void otherReplySubjectsAreNone() {
    assertThat(Delivery.parse(null)).isNull();
    assertThat(Delivery.parse("_INBOX.a.b")).isNull();
    assertThat(Delivery.parse("$JS.ACK.")).isNull();
    assertThat(Delivery.parse("$JS.ACK.1.2.3")).isNull();
    assertThat(Delivery.parse("$JS.ACK.STREAM.consumer.1.17.5..3")).isNull();
    assertThat(Delivery.parse("$JS.ACK.STREAM.consumer.1.x.5.1700000000123456789.3")).isNull();
  }
}
