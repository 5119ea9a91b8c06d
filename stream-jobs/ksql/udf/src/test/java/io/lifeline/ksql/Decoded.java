package io.lifeline.ksql;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.jobs.core.Glob;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.decode.DecodeJob;
import io.lifeline.jobs.core.decode.DecodeSettings;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The output of the job decode: the messages that ksqlDB reads. */
final class Decoded {

  record Message(String topic, String key, String json) {}

  private Decoded() {}

  static List<Message> of(BatchWriter batch) {
    return of(batch.toByteArray(), System.currentTimeMillis());
  }

  static List<Message> of(byte[] bytes, long brokerTimeMs) {
    List<Message> messages = new ArrayList<>();
    try {
      new DecodeJob(new DecodeSettings(List.of(Glob.of("*")), Duration.ofDays(1).toNanos()), new Metrics())
          .accept(
              new BatchReader().read(bytes, 0, bytes.length),
              new Position(0, 0, brokerTimeMs),
              (to, key, id, value) ->
                  messages.add(new Message(to.topic("lifeline"), key, new String(value, StandardCharsets.UTF_8))));
    } catch (RejectedBatchException e) {
      throw new AssertionError("the test built a batch that is not valid: " + e, e);
    }
    return messages;
  }
}
