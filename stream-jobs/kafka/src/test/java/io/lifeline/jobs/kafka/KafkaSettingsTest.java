package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.JobConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.config.types.Password;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KafkaSettingsTest {

  @TempDir private Path directory;

  private static KafkaSettings settings(String... pairs) {
    Map<String, String> map = new HashMap<>(Map.of("broker.url", "kafka://broker:9093/my.batches"));
    for (int i = 0; i < pairs.length; i += 2) {
      map.put(pairs[i], pairs[i + 1]);
    }
    return new KafkaSettings(JobConfig.load(null, Map.of(), map));
  }

  private Path file(String name, String text) throws Exception {
    return Files.writeString(directory.resolve(name), text);
  }

  @Test
  void theDefaultIsExactlyOnceOverPlainText() {
    Properties streams = settings().streams(directory);
    assertThat(streams)
        .containsEntry("bootstrap.servers", "broker:9093")
        .containsEntry("security.protocol", "PLAINTEXT")
        .containsEntry("processing.guarantee", "exactly_once_v2")
        .containsEntry("ensure.explicit.internal.resource.naming", true)
        .containsEntry("application.id", "lifeline-jobs")
        .containsEntry("num.standby.replicas", 1);
    assertThat(settings().batches()).isEqualTo("my.batches");
  }

  @Test
  void anAuthorityTurnsTlsOn() throws Exception {
    Path ca = file("ca.pem", "certificate");
    assertThat(settings("broker.tls.ca", ca.toString()).admin())
        .containsEntry("security.protocol", "SSL")
        .containsEntry("ssl.truststore.type", "PEM")
        .containsEntry("lifeline.tls.ca", ca.toString());
  }

  @Test
  void aCertificateIsNeverLeftOutForPlainText() throws Exception {
    Path certificate = file("cert.pem", "certificate");
    Path key = file("key.pem", "key");
    assertThat(settings("broker.tls.cert", certificate.toString(), "broker.tls.key", key.toString()).admin())
        .containsEntry("security.protocol", "SSL")
        .containsEntry("lifeline.tls.cert", certificate.toString());
  }

  @Test
  void aUserNeedsAPasswordThatIsNeverShown() throws Exception {
    Path password = file("password", "pass\"word\n");
    Map<String, Object> admin =
        settings("broker.user", "alice", "broker.password.file", password.toString()).admin();
    assertThat(admin).containsEntry("security.protocol", "SASL_PLAINTEXT").containsEntry("sasl.mechanism", "PLAIN");
    Password login = (Password) admin.get("sasl.jaas.config");
    assertThat(login.value()).endsWith("PlainLoginModule required username=\"alice\" password=\"pass\\\"word\";");
    assertThat(admin.toString()).doesNotContain("pass\\");
    assertThatThrownBy(() -> settings("broker.user", "alice").admin())
        .isInstanceOf(ConfigException.class)
        .hasMessage("broker.user is set, but no password: set broker.password.file");
  }

  @Test
  void aCertificateWithoutItsKeyIsRefused() throws Exception {
    Path ca = file("ca.pem", "ca");
    Path certificate = file("cert.pem", "certificate");
    assertThatThrownBy(
            () -> settings("broker.tls.ca", ca.toString(), "broker.tls.cert", certificate.toString()).admin())
        .isInstanceOf(ConfigException.class)
        .hasMessage("broker.tls.cert and broker.tls.key must be set together");
  }

  @Test
  void nativeSettingsWinAndGoWhereTheyBelong() {
    KafkaSettings settings =
        settings("kafka.num.stream.threads", "2", "kafka.fetch.min.bytes", "7", "kafka.consumer.fetch.min.bytes", "9");
    assertThat(settings.streams(directory)).containsEntry("num.stream.threads", "2");
    assertThat(settings("kafka.batch.size", "5").streams(directory)).containsEntry("batch.size", "5");
    assertThat(settings.consumer("reader"))
        .containsEntry("fetch.min.bytes", "9")
        .containsEntry("enable.auto.commit", false)
        .doesNotContainKey("num.stream.threads");
  }

  @Test
  void aNativeSettingWithAClientsPrefixReachesThatClientAlone() {
    KafkaSettings settings =
        settings("kafka.linger.ms", "3", "kafka.producer.linger.ms", "7", "kafka.admin.request.timeout.ms", "11");
    assertThat(settings.producer("rejected")).containsEntry("linger.ms", "7").doesNotContainKey("request.timeout.ms");
    assertThat(settings.admin()).containsEntry("request.timeout.ms", "11");
    assertThat(settings.streams(directory))
        .containsEntry("producer.linger.ms", "7")
        .containsEntry("admin.request.timeout.ms", "11");
  }
}
