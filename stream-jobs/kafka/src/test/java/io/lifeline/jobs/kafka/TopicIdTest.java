package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

class TopicIdTest {

  private static Uuid id(Uuid given) {
    return Topics.id(new TopicDescription("lifeline.batches", false, List.of(), null, given));
  }

  @Test
  void whereABrokerHasNoIdsNoneIsKnown() {
    assertThat(id(Uuid.ZERO_UUID)).isNull();
    assertThat(id(null)).isNull();
    Uuid random = Uuid.randomUuid();
    assertThat(id(random)).isEqualTo(random);
  }
}
