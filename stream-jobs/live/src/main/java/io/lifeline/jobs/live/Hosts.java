package io.lifeline.jobs.live;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.JobHost;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Upserts;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.lifeline.jobs.core.live.LiveMessages;
import io.lifeline.jobs.core.live.LiveStart;
import io.lifeline.jobs.jetstream.JetStreamHost;
import io.lifeline.jobs.jetstream.JetStreamLive;
import io.lifeline.jobs.jetstream.JetStreamUpserts;
import io.lifeline.jobs.kafka.KafkaHost;
import io.lifeline.jobs.kafka.KafkaLive;
import io.lifeline.jobs.kafka.KafkaUpserts;

/** Selects the implementation for the broker's URL. */
public final class Hosts {

  private Hosts() {}

  public static JobHost create(JobConfig config, Metrics metrics) {
    return switch (config.get(Keys.BROKER_URL_KEY).scheme()) {
      case NATS -> new JetStreamHost(config, metrics);
      case KAFKA -> new KafkaHost(config, metrics);
    };
  }

  public static Upserts upserts(JobConfig config) {
    return switch (config.get(Keys.BROKER_URL_KEY).scheme()) {
      case NATS -> new JetStreamUpserts(config);
      case KAFKA -> new KafkaUpserts(config);
    };
  }

  /** Returns the batches as they arrive. */
  public static LiveMessages messages(JobConfig config, LiveStart start) {
    return switch (config.get(Keys.BROKER_URL_KEY).scheme()) {
      case NATS -> JetStreamLive.batches(config, start);
      case KAFKA -> KafkaLive.batches(config, start);
    };
  }

  /** Returns what jobs publish there, as it arrives. */
  public static LiveMessages published(JobConfig config, LiveStart start, Destination destination) {
    return switch (config.get(Keys.BROKER_URL_KEY).scheme()) {
      case NATS -> JetStreamLive.published(config, start, destination);
      case KAFKA -> KafkaLive.published(config, start, destination);
    };
  }
}
