package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.config.JobConfig;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests the reader of {@code lifeline-jobs ledger} with a real broker. Each test has a topic of its own. */
@ExtendWith(EmbeddedKafka.Shared.class)
@Tag("system")
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class KafkaUpsertsTest {

  private static EmbeddedKafka kafka;

  private String prefix;

  @BeforeAll
  static void takeBroker(EmbeddedKafka shared) {
    kafka = shared;
  }

  @BeforeEach
  void nameTopics(TestInfo test) {
    prefix = test.getTestMethod().orElseThrow().getName();
  }

  private void send(String key, String value) throws Exception {
    kafka.send(prefix + ".ledger", key, value == null ? null : value.getBytes(StandardCharsets.UTF_8));
  }

  private Map<String, String> latest() throws HostException {
    Map<String, String> settings = Map.of("broker.url", kafka.url(), "names.prefix", prefix);
    Map<String, String> latest = new TreeMap<>();
    new KafkaUpserts(JobConfig.load(null, Map.of(), settings))
        .latest(Destination.LEDGER)
        .forEach((key, value) -> latest.put(key, new String(value, StandardCharsets.UTF_8)));
    return latest;
  }

  @Test
  void theLatestValueOfEachKeyIsRead() throws Exception {
    kafka.createTopics(3, prefix + ".ledger");
    for (int i = 0; i < 20; i++) {
      send("route-" + i % 4, "value-" + i);
    }
    assertThat(latest())
        .isEqualTo(Map.of("route-0", "value-16", "route-1", "value-17", "route-2", "value-18", "route-3", "value-19"));
  }

  @Test
  void whatWasRemovedIsNotRead() throws Exception {
    kafka.createTopics(1, prefix + ".ledger");
    send("kept", "1");
    send("removed", "2");
    send("removed", null);
    assertThat(latest()).isEqualTo(Map.of("kept", "1"));
  }

  @Test
  void anEmptyTopicHasNoEntries() throws Exception {
    kafka.createTopics(2, prefix + ".ledger");
    assertThat(latest()).isEmpty();
  }

  @Test
  void aMissingTopicIsNamedWithWhatMakesItAndNotMade() throws Exception {
    assertThatThrownBy(this::latest)
        .isInstanceOf(HostException.class)
        .hasMessageContaining("has no topic " + prefix + ".ledger: create them with lifeline-setup");
    assertThat(kafka.topics()).doesNotContain(prefix + ".ledger");
  }
}
