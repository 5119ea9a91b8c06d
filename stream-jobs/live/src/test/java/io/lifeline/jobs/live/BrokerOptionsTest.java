package io.lifeline.jobs.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.Keys;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class BrokerOptionsTest {

  private static final String EMITTERS = "nats://emitters:4222";

  @Test
  void takeTheOptionThenTheSettingsThenWhereProgramsSendTheirEvents() {
    assertThat(url(EMITTERS, "--broker", "kafka://option:9092", "--set", "broker.url=nats://setting:4222"))
        .contains("option");
    assertThat(url(EMITTERS, "--set", "broker.url=nats://setting:4222")).contains("setting");
    assertThat(url(EMITTERS)).contains("emitters");
    assertThat(url(EMITTERS, "--url", "kafka://option:9092")).contains("option");
  }

  @Test
  void sayHowToNameABroker() {
    assertThatThrownBy(() -> url(null)).isInstanceOf(ConfigException.class).hasMessageContaining("--broker URL");
    assertThatThrownBy(() -> url("file:///tmp/events.llb")).hasMessageStartingWith("which broker?");
  }

  private static String url(String emitters, String... arguments) {
    BrokerOptions options = new BrokerOptions();
    new CommandLine(options).parseArgs(arguments);
    return options.load(emitters).get(Keys.BROKER_URL_KEY).toString();
  }
}
