package io.lifeline.jobs.core.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JobConfigTest {

  @TempDir Path directory;

  @Test
  void prefersTheCommandLineToTheEnvironmentToTheFileToTheDefault() throws IOException {
    Path file = file("summarise.window=1s\nsummarise.late=1m\nledger.interval=7s\n");
    JobConfig config =
        JobConfig.load(
            file,
            Map.of("LIFELINE_JOBS_SUMMARISE_WINDOW", "2s", "LIFELINE_JOBS_SUMMARISE_LATE", "2m"),
            Map.of("summarise.window", "3s"));
    assertThat(config.get(Keys.SUMMARISE_WINDOW)).isEqualTo(Duration.ofSeconds(3));
    assertThat(config.get(Keys.SUMMARISE_LATE)).isEqualTo(Duration.ofMinutes(2));
    assertThat(config.get(Keys.LEDGER_INTERVAL)).isEqualTo(Duration.ofSeconds(7));
    assertThat(config.get(Keys.SUMMARISE_IDLE)).isEqualTo(Duration.ofSeconds(30));
    assertThat(config.origin("summarise.late")).isEqualTo(JobConfig.Origin.ENVIRONMENT);
  }

  @Test
  void takesAnEmptyValueForTheDefault() throws IOException {
    JobConfig config = JobConfig.load(file("summarise.window=1s\narchive.dir=a\n"), Map.of(),
        Map.of("summarise.window", "", "archive.dir", ""));
    assertThat(config.get(Keys.SUMMARISE_WINDOW)).isEqualTo(Duration.ofSeconds(10));
    assertThat(config.find(Keys.ARCHIVE_DIR)).isEmpty();
  }

  @Test
  void hasADefaultThatIsAllowedForEveryKeyThatHasOne() {
    JobConfig config = JobConfig.load(null, Map.of(), Map.of());
    for (ConfigKey<?> key : Keys.all()) {
      assertThat(config.find(key).isPresent()).as(key.name()).isEqualTo(key.defaultText() != null);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "summarise.window | 10 | summarise.window=10: expected a number with ms, s, m, h or d, above 0",
        "summarise.window | 0s | summarise.window=0s: expected a number with ms, s, m, h or d, above 0",
        "retention | 999999999999999d | retention=999999999999999d: expected a number with ms, s, m, h or d, above 0",
        "jobs | archive,fly | jobs=archive,fly: expected a comma-separated list of decode, filter, pair, rate, "
            + "summarise,"
            + " bottleneck, archive, ledger",
        "summarise.fields | nbytes | summarise.fields=nbytes: expected a comma-separated list of TYPE:FIELD,"
            + " where * in either matches any text",
        "archive.roll.bytes | 9MB | archive.roll.bytes=9MB: expected a number of bytes above 0, optionally with KiB, "
            + "MiB or GiB",
        "nats.groups | 17 | nats.groups=17: expected a number from 1 to 16",
        "nats.stream | a.b | nats.stream=a.b: expected letters, digits, dash and underscore",
      })
  void saysKeyValueAndWhatIsAllowed(String key, String value, String message) {
    assertThatThrownBy(() -> JobConfig.load(null, Map.of(), Map.of(key, value)))
        .isInstanceOf(ConfigException.class)
        .hasMessage(message);
  }

  @Test
  void refusesSettingsThatDoNotExist() throws IOException {
    assertThatThrownBy(() -> JobConfig.load(null, Map.of(), Map.of("sumarise.window", "1s")))
        .hasMessage("--set: there is no setting 'sumarise.window'; see 'lifeline-jobs config --keys'");
    Path file = file("window=1s\n");
    assertThatThrownBy(() -> JobConfig.load(file, Map.of(), Map.of())).hasMessageStartingWith(file + ": there is no");
  }

  @Test
  void neverShowsSecrets() {
    String secret = "s3cr3t";
    assertThatThrownBy(
            () -> JobConfig.load(null, Map.of(), Map.of("broker.url", "http://user:" + secret + "@host/")))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("broker.url=http://****@host/: expected nats://")
        .message()
        .doesNotContain(secret);
    JobConfig config =
        JobConfig.load(
            null,
            Map.of("LIFELINE_JOBS_KAFKA_SSL_KEY_PASSWORD", secret),
            Map.of(
                "broker.url", "nats://user:" + secret + "@a:1,b:2/",
                "broker.password.file", "/run/password",
                "kafka.sasl.jaas.config", "module password=" + secret));
    assertThat(config.masked().toString()).doesNotContain(secret);
    assertThat(config.masked())
        .containsEntry("broker.url", "nats://****@a:1,b:2/")
        .containsEntry("broker.password.file", "/run/password")
        .containsEntry("kafka.ssl.key.password", "****")
        .containsEntry("kafka.sasl.jaas.config", "****");
    assertThat(config.get(Keys.BROKER_URL_KEY).toString()).doesNotContain(secret);
    assertThat(config.kafka()).containsEntry("ssl.key.password", secret);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nats://user:s3,cr3t@a:1,b:2/ | nats://****@a:1,b:2/",
        "kafka://h/t?tls=true&kafka.sasl.password=s3@cr3t&kafka.ssl.key.location=/k |"
            + " kafka://h/t?tls=true&kafka.sasl.password=****&kafka.ssl.key.location=/k",
        "kafka://h?kafka.ssl.key.pem=s3cr3t | kafka://h?kafka.ssl.key.pem=****",
      })
  void masksWhatIsSecretInAUrlAndNothingElse(String url, String shown) {
    JobConfig config = JobConfig.load(null, Map.of(), Map.of("broker.url", url));
    assertThat(config.masked()).containsEntry("broker.url", shown);
  }

  @Test
  void showsNoSecretOfAUrlThatItRefuses() {
    assertThatThrownBy(() -> JobConfig.load(null, Map.of(), Map.of("broker.url", "nats://user:s3/cr3t@h")))
        .hasMessageStartingWith("broker.url=nats://****@h: expected nats://");
  }

  @Test
  void readsThePasswordFromItsFileAndElseFromTheUrl() throws IOException {
    Path password = directory.resolve("password");
    Files.writeString(password, "p@ss\nsecond line\n");
    Map<String, String> url = Map.of("LIFELINE_JOBS_BROKER_URL", "nats://me:a%40b@h");
    assertThat(JobConfig.load(null, url, Map.of()).password()).contains("a@b");
    assertThat(JobConfig.load(null, url, Map.of()).user()).contains("me");
    assertThat(JobConfig.load(null, url, Map.of("broker.password.file", password.toString())).password())
        .contains("p@ss");
    assertThatThrownBy(() -> JobConfig.load(null, url, Map.of("broker.password.file", "/nowhere")).password())
        .hasMessage("broker.password.file=/nowhere: cannot be read");
  }

  @Test
  void refusesAParameterThatNothingKnowsAndNamesThoseThatThereAre() {
    assertThatThrownBy(() -> JobConfig.load(null, Map.of(), Map.of("broker.url", "nats://h?tsl=true")))
        .isInstanceOf(ConfigException.class)
        .hasMessage(
            "broker.url: the URL's parameter 'tsl' is unknown; those of a nats URL are control, creds, max_in_flight,"
                + " mode, stream, tls, tls_ca, tls_cert, tls_key");
    assertThatThrownBy(() -> JobConfig.load(null, Map.of(), Map.of("broker.url", "kafka://h?creds=/f")))
        .hasMessage(
            "broker.url: the URL's parameter 'creds' is unknown; those of a kafka URL are control, max_in_flight,"
                + " tls, tls_ca, tls_cert, tls_key, kafka.<setting of librdkafka>");
  }

  @Test
  void understandsTheUrlsOfTheEmitter() {
    BrokerUrl nats = BrokerUrl.parse("nats://a,b:1/?stream=OTHER&tls=true");
    assertThat(nats.servers()).isEqualTo(List.of("a:4222", "b:1"));
    assertThat(nats.path()).isEqualTo("lifeline.batches");
    assertThat(nats.parameters()).isEqualTo(Map.of("stream", "OTHER", "tls", "true"));
    BrokerUrl kafka = BrokerUrl.parse("kafka://[::1]/my.topic");
    assertThat(kafka.servers()).isEqualTo(List.of("[::1]:9092"));
    assertThat(kafka.path()).isEqualTo("my.topic");
    assertThat(kafka).hasToString("kafka://[::1]:9092/my.topic");
  }

  @ParameterizedTest
  @CsvSource({"nats://", "nats://h:0", "nats://h:99999", "nats://h/a/b", "nats://h?x", "nats://a b", "file:///x",
    "nats://h?tls=yes"})
  void refusesOtherUrls(String url) {
    assertThatThrownBy(() -> JobConfig.load(null, Map.of(), Map.of("broker.url", url)))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("broker.url=" + url + ": expected nats://");
  }

  private Path file(String text) throws IOException {
    Path file = directory.resolve("jobs.properties");
    return Files.writeString(file, text);
  }

  @Test
  void aFilterIsNamedByTheStreamThatItFills() {
    JobConfig config =
        JobConfig.load(
            null, Map.of("LIFELINE_JOBS_FILTER_SLOW_READS", "duration > 5"), Map.of("filter.large", "nbytes > 1"));
    assertThat(config.filters()).isEqualTo(Map.of("slow_reads", "duration > 5", "large", "nbytes > 1"));
    assertThatThrownBy(() -> JobConfig.load(null, Map.of(), Map.of("filter.A.b", "true")))
        .isInstanceOf(ConfigException.class)
        .hasMessage(
            "--set: filter.A.b names a stream by something other than lower-case letters, digits, dash and underscore,"
                + " at most 64");
  }

  @Test
  void tellsADerivedStreamFromTheEmittersBatches() {
    assertThat(input("nats://h")).isEmpty();
    assertThat(input("nats://h/lifeline.derived.large?stream=LIFELINE_OUT")).contains("large");
  }

  private static Optional<String> input(String url) {
    return JobConfig.load(null, Map.of(), Map.of("broker.url", url)).derivedInput();
  }
}
