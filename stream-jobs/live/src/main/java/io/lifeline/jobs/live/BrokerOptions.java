package io.lifeline.jobs.live;

import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of every command that looks at a broker. */
public final class BrokerOptions {

  @Mixin private ConfigOptions config = new ConfigOptions();

  @Option(names = {"--broker", "--url"}, paramLabel = "URL",
      description = "Broker to look at (default: broker.url, else LIFELINE_URL). Credentials: see --config.")
  private String broker;

  /** Returns the settings, which name a broker. */
  public JobConfig load() {
    return load(System.getenv("LIFELINE_URL"));
  }

  /** @param emitters the URL that programs send their events to; null if there is none */
  JobConfig load(String emitters) {
    if (broker != null) {
      return config.load(Keys.BROKER_URL_KEY, broker);
    }
    JobConfig settings = config.load();
    if (settings.find(Keys.BROKER_URL_KEY).isPresent()) {
      return settings;
    }
    if (emitters == null || !emitters.matches("(nats|tls|kafka)://.*")) {
      throw new ConfigException(
          "which broker? give --broker URL, or set LIFELINE_URL or broker.url, for example to nats://127.0.0.1:4222");
    }
    return config.load(Keys.BROKER_URL_KEY, emitters);
  }
}
