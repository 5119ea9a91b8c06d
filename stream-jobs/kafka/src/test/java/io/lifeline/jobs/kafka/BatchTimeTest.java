package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;

class BatchTimeTest {

  private final BatchTime times = new BatchTime();

  private long at(TimestampType type, long ms) {
    return times.of(
        new ConsumerRecord<>(
            "lifeline.batches", 0, 1, ms, type, 0, 0, null, new byte[0], new RecordHeaders(), Optional.empty()));
  }

  /** Either of the two clocks may be wrong, including this machine's. */
  @Test
  void theBrokersTimeIsTakenAsItIsHoweverFarItIsFromThisMachines() {
    long nowMs = System.currentTimeMillis();
    for (int days : new int[] {-40, 40, 10_000}) {
      long ms = nowMs + Duration.ofDays(days).toMillis();
      assertThat(at(TimestampType.LOG_APPEND_TIME, ms)).isEqualTo(ms);
    }
  }

  @Test
  void aProducersTimeIsBounded() {
    long nowMs = System.currentTimeMillis();
    assertThat(at(TimestampType.CREATE_TIME, nowMs)).isEqualTo(nowMs);
    for (int days : new int[] {-40, 40, 10_000}) {
      assertThat(at(TimestampType.CREATE_TIME, nowMs + Duration.ofDays(days).toMillis())).isEqualTo(nowMs);
    }
    assertThat(at(TimestampType.NO_TIMESTAMP_TYPE, -1)).isEqualTo(nowMs);
  }
}
