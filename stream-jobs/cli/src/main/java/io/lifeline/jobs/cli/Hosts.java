package io.lifeline.jobs.cli;

import io.lifeline.jobs.core.JobHost;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.lifeline.jobs.jetstream.JetStreamHost;

/** Chooses the host by the broker's URL. */
final class Hosts {

  private Hosts() {}

  static JobHost create(JobConfig config, Metrics metrics) {
    return switch (config.get(Keys.BROKER_URL_KEY).scheme()) {
      case NATS -> new JetStreamHost(config, metrics);
      case KAFKA -> throw new ConfigException("kafka:// is not linked in");
    };
  }
}
