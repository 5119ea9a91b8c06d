package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.junit.jupiter.api.Test;

class BrokerTroubleTest {

  @Test
  void theReasonIsFoundBelowWhatTheClientWrapsAroundIt() {
    assertThat(BrokerTrouble.explain("kafka://host", new KafkaException(new TimeoutException())))
        .hasMessageStartingWith("kafka://host does not answer: check that it is running");
    assertThat(BrokerTrouble.explain(
            "kafka://host", new KafkaException(new ExecutionException(new SaslAuthenticationException("no such user")))))
        .hasMessage("kafka://host: no such user: check broker.user and broker.password.file");
  }

  @Test
  void anyOtherReasonIsSaidByItself() {
    assertThat(BrokerTrouble.explain("kafka://host", new KafkaException("a", new IllegalStateException("odd"))))
        .hasMessage("kafka://host: odd");
  }
}
