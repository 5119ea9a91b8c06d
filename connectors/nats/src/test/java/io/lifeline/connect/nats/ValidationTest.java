package io.lifeline.connect.nats;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.api.RetentionPolicy;
import io.nats.client.api.StreamConfiguration;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigValue;
import org.apache.kafka.connect.connector.Connector;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Against a real server with TLS and passwords. */
@Tag("system")
class ValidationTest {

  @TempDir static Path directory;

  private static NatsServer server;
  private static Map<String, String> working;

  @BeforeAll
  static void start() throws Exception {
    server = NatsServer.start(directory.resolve("broker"), "--tls", "--auth");
    String password = Files.readString(Path.of(server.environment("LIFELINE_PASSWORD_FILE"))).strip();
    working =
        Map.of(
            "nats.url", server.url().replaceAll("/\\?.*", ""),
            "nats.user", server.environment("LIFELINE_USER"),
            "nats.password", password,
            "nats.tls.ca.file", server.environment("LIFELINE_TLS_CA"),
            "nats.stream", "GOODS");
    SourceConfig config = new SourceConfig(working);
    Options options =
        ConnectionConfig.settings(config, "test", Map.of()).options(new io.lifeline.nats.ConnectionLog());
    try (Connection connection = Nats.connect(options)) {
      Numbers.createStream(connection, "GOODS", "goods.>");
      StreamConfiguration.Builder passing = StreamConfiguration.builder().name("PASSING").subjects("passing");
      connection.jetStreamManagement().addStream(passing.retentionPolicy(RetentionPolicy.Interest).build());
    }
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  @Test
  void settingsThatWorkHaveNoErrors() {
    assertThat(errors(new JetStreamSource(), with())).isEmpty();
    assertThat(errors(new NatsSink(), with("nats.subject", "goods.a"))).isEmpty();
    assertThat(errors(new NatsSink(), with("nats.subject", "goods.${key}"))).isEmpty();
  }

  @Test
  void theErrorStandsAtTheSettingThatCausesIt() throws Exception {
    assertThat(errors(new JetStreamSource(), with("nats.stream", "BADS")))
        .containsExactly("nats.stream: the broker has no such stream");
    assertThat(errors(new JetStreamSource(), with("nats.stream", "PASSING")))
        .singleElement()
        .asString()
        .startsWith("nats.stream: stream PASSING drops messages once they were read (retention interest)");
    String text = "org.apache.kafka.connect.storage.StringConverter";
    assertThat(errors(new JetStreamSource(), with("content", "batches", "key.converter", text)))
        .containsExactly(
            "content: batches need key.converter=org.apache.kafka.connect.converters.ByteArrayConverter, not " + text);
    assertThat(errors(new JetStreamSource(), with("nats.subjects", "goods.a,bads.*")))
        .containsExactly("nats.subjects: stream GOODS holds no subject that matches bads.*");
    assertThat(errors(new JetStreamSource(), with("nats.password", "n0t-the-passw0rd")))
        .singleElement()
        .asString()
        .startsWith("nats.user: the broker rejected the credentials")
        .doesNotContain("n0t-the-passw0rd");
    Map<String, String> untrusted = with();
    untrusted.remove("nats.tls.ca.file");
    untrusted.compute("nats.url", (name, url) -> url.replace("nats://", "tls://"));
    assertThat(errors(new JetStreamSource(), untrusted)).singleElement().asString().startsWith("nats.tls.ca.file: ");
    assertThat(errors(new JetStreamSource(), with("nats.url", "127.0.0.1:1")))
        .singleElement()
        .asString()
        .startsWith("nats.url: cannot use NATS");
    assertThat(errors(new NatsSink(), with("nats.subject", "bads")))
        .containsExactly("nats.subject: no stream stores messages of subject bads");
  }

  @Test
  void valuesThatCannotBeRightAreRefusedWithoutABroker() {
    assertThat(errors(new JetStreamSource(), Map.of("nats.url", "nats://me:secret@host", "nats.stream", "GOODS")))
        .singleElement()
        .asString()
        .startsWith("nats.url: nats.url: expected host:port")
        .doesNotContain("secret");
    assertThat(errors(new JetStreamSource(), with("nats.subjects", "goods.*,goods.a")))
        .singleElement()
        .asString()
        .contains("overlaps with goods.*");
    assertThat(errors(new JetStreamSource(), with("nats.start", "yesterday")))
        .singleElement()
        .asString()
        .contains("expected first, new, or a time as 2026-11-21T00:00:00Z");
    assertThat(errors(new JetStreamSource(), with("kafka.topic", "no topic"))).hasSize(1);
    assertThat(errors(new NatsSink(), with("nats.subject", "goods.${value}"))).hasSize(1);
    assertThat(errors(new NatsSink(), with("errors.deadletterqueue.topic.name", "dead")))
        .singleElement()
        .asString()
        .contains("the task fails at the first invalid record unless errors.tolerance is all");
    assertThat(errors(new JetStreamSource(), Map.of("nats.stream", "GOODS")))
        .containsExactly("nats.url: no NATS server is configured: set nats.url or nats.context");
  }

  @Test
  void aContextOfTheNatsCommandIsEnough() throws Exception {
    Path context = directory.resolve("production.json");
    Files.writeString(
        context,
        String.format(
            "{\"url\": \"%s\", \"user\": \"%s\", \"password\": \"%s\", \"ca\": \"%s\"}",
            working.get("nats.url"), working.get("nats.user"), working.get("nats.password"),
            working.get("nats.tls.ca.file")));
    assertThat(errors(new JetStreamSource(), Map.of("nats.context", context.toString(), "nats.stream", "GOODS")))
        .isEmpty();
    assertThat(errors(new JetStreamSource(), Map.of("nats.context", "none-of-that-name", "nats.stream", "GOODS")))
        .singleElement()
        .asString()
        .startsWith("nats.context: the NATS context 'none-of-that-name' cannot be read from ");
  }

  @Test
  void aPasswordInAContextsAddressIsUsedAndNotShown() throws Exception {
    Path context = directory.resolve("in-url.json");
    String credentials = working.get("nats.user") + ":" + working.get("nats.password") + "@";
    String text = "{\"url\": \"%s\", \"ca\": \"" + working.get("nats.tls.ca.file") + "\"}";
    Files.writeString(context, String.format(text, working.get("nats.url").replace("://", "://" + credentials)));
    Map<String, String> settings = Map.of("nats.context", context.toString(), "nats.stream", "GOODS");
    assertThat(errors(new JetStreamSource(), settings)).isEmpty();

    Files.writeString(context, String.format(text, "nats://me:s3cret@127.0.0.1:1"));
    assertThat(errors(new JetStreamSource(), settings))
        .singleElement()
        .asString()
        .startsWith("nats.url: cannot use NATS")
        .doesNotContain("s3cret");
  }

  private static List<String> errors(Connector connector, Map<String, String> settings) {
    return connector.validate(settings).configValues().stream()
        .flatMap(ValidationTest::errors)
        .toList();
  }

  private static java.util.stream.Stream<String> errors(ConfigValue value) {
    return value.errorMessages().stream().map(message -> value.name() + ": " + message);
  }

  private static Map<String, String> with(String... setting) {
    Map<String, String> settings = new HashMap<>(working);
    for (int i = 0; i < setting.length; i += 2) {
      settings.put(setting[i], setting[i + 1]);
    }
    return settings;
  }
}
