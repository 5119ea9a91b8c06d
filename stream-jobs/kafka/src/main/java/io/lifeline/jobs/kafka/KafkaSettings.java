package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.config.BrokerUrl;
import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.ConfigKey;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.lifeline.jobs.core.signing.Signatures;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.SaslConfigs;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsConfig;

/**
 * Kafka client properties, from the configuration. Settings under {@code kafka.} have their native names and override
 * the values derived here; such parameters in the broker's URL are librdkafka's and concern emitters only.
 */
final class KafkaSettings {

  private static final String DEFAULT_MECHANISM = "PLAIN";
  private static final long CACHE_BYTES = 64L << 20;

  /** One batch's partial result for a window takes kilobytes; Kafka's default buffer holds only a few of those. */
  private static final int PRODUCER_BATCH_BYTES = 256 << 10;

  /** Another instance, if there is one, keeps a copy of each task's state. */
  private static final int STANDBY_REPLICAS = 1;

  /**
   * After a crash the other instances, or a restart, wait this long; the open transaction takes as long to time out.
   */
  private static final int SESSION_TIMEOUT_MS = 10_000;

  /** How soon new partitions of the batch topic are noticed; Kafka's default is five minutes. */
  private static final int METADATA_MAX_AGE_MS = 5_000;

  private final JobConfig config;
  private final BrokerUrl url;
  private final Map<String, String> natives;
  private final Signatures signatures;

  KafkaSettings(JobConfig config) {
    this.config = config;
    this.url = config.get(Keys.BROKER_URL_KEY);
    this.natives = config.kafka();
    this.signatures = Signatures.of(config.find(Keys.SIGNATURE_KEYS).orElse(List.of()));
  }

  /** Returns the broker's URL without secrets. */
  String shownUrl() {
    return url.toString();
  }

  String batches() {
    return url.path();
  }

  /** Returns the verifier of batch signatures. */
  Signatures signatures() {
    return signatures;
  }

  /** Returns the numbers of partitions that the batch topic had before. */
  List<Integer> earlierPartitions() {
    return config.find(Keys.EARLIER_PARTITIONS).orElse(List.of()).stream().map(Integer::valueOf).toList();
  }

  /** Returns the number of partitions of a new topic of decoded events. */
  int eventPartitions() {
    return config.get(Keys.DECODE_PARTITIONS);
  }

  /** Returns the prefix of topics of decoded events, up to the type. */
  String eventsPrefix() {
    return config.get(Keys.NAMES_PREFIX) + ".events.";
  }

  /** Returns the maximum number of topics of decoded events, not counting types named in the configuration. */
  int maxEventTopics() {
    return config.get(Keys.DECODE_MAX_TOPICS);
  }

  /** Returns the topics of the types named in the configuration. */
  Set<String> namedEventTopics() {
    return config.find(Keys.DECODE_TYPES).orElse(List.of()).stream()
        .filter(type -> !type.contains("*"))
        .map(type -> Destination.events(type).topic(config.get(Keys.NAMES_PREFIX)))
        .collect(Collectors.toSet());
  }

  /**
   * Returns the ID shared by the instances that share the work, and used for internal topics; a derived stream has its
   * own.
   */
  String applicationId() {
    String derived = config.derivedInput().map(stream -> "-of-" + stream).orElse("");
    return natives.getOrDefault(StreamsConfig.APPLICATION_ID_CONFIG, config.get(Keys.NAMES_PREFIX) + "-jobs" + derived);
  }

  /** Returns the properties of Kafka Streams, with exactly-once processing. */
  Properties streams(Path stateDirectory) {
    Properties properties = new Properties();
    properties.putAll(connection());
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, applicationId());
    properties.put(ConsumerConfig.METADATA_MAX_AGE_CONFIG, METADATA_MAX_AGE_MS);
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, config.get(Keys.CHECKPOINT_INTERVAL).toMillis());
    properties.put(ProducerConfig.BATCH_SIZE_CONFIG, PRODUCER_BATCH_BYTES);
    properties.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, STANDBY_REPLICAS);
    properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, CACHE_BYTES);
    properties.put(StreamsConfig.ENSURE_EXPLICIT_INTERNAL_RESOURCE_NAMING_CONFIG, true);
    properties.put(StreamsConfig.PROCESSING_EXCEPTION_HANDLER_GLOBAL_ENABLED_CONFIG, true);
    properties.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, SmallRocksDb.class);
    properties.put(StreamsConfig.STATE_DIR_CONFIG, stateDirectory.toString());
    properties.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, SESSION_TIMEOUT_MS);
    properties.put(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, SESSION_TIMEOUT_MS / 3);
    properties.putAll(natives);
    return properties;
  }

  /** Returns the properties of a consumer without a group, whose partitions and positions are assigned explicitly. */
  Map<String, Object> consumer(String clientId) {
    Map<String, Object> properties = withNatives(ConsumerConfig.configNames(), StreamsConfig.CONSUMER_PREFIX);
    properties.putIfAbsent(ConsumerConfig.METADATA_MAX_AGE_CONFIG, METADATA_MAX_AGE_MS);
    properties.put(ConsumerConfig.CLIENT_ID_CONFIG, clientId);
    properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
    properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    properties.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    properties.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    return properties;
  }

  Map<String, Object> producer(String clientId) {
    Map<String, Object> properties = withNatives(ProducerConfig.configNames(), StreamsConfig.PRODUCER_PREFIX);
    properties.put(ProducerConfig.CLIENT_ID_CONFIG, clientId);
    properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    properties.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, StringSerializer.class);
    properties.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    return properties;
  }

  Map<String, Object> admin() {
    Map<String, Object> properties = withNatives(AdminClientConfig.configNames(), StreamsConfig.ADMIN_CLIENT_PREFIX);
    properties.put(AdminClientConfig.CLIENT_ID_CONFIG, applicationId() + "-admin");
    return properties;
  }

  /** Adds native settings; those with the prefix of this kind of client override common ones, as in Kafka Streams. */
  private Map<String, Object> withNatives(Set<String> known, String prefix) {
    Map<String, Object> properties = connection();
    natives.forEach(
        (name, value) -> {
          if (known.contains(name)) {
            properties.put(name, value);
          }
        });
    natives.forEach(
        (name, value) -> {
          if (name.startsWith(prefix)) {
            properties.put(name.substring(prefix.length()), value);
          }
        });
    return properties;
  }

  private Map<String, Object> connection() {
    Map<String, Object> properties = new HashMap<>();
    properties.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, String.join(",", url.servers()));
    Optional<String> user = config.user();
    boolean tls = config.usesTls();
    SecurityProtocol protocol =
        user.isPresent()
            ? (tls ? SecurityProtocol.SASL_SSL : SecurityProtocol.SASL_PLAINTEXT)
            : (tls ? SecurityProtocol.SSL : SecurityProtocol.PLAINTEXT);
    properties.put(CommonClientConfigs.SECURITY_PROTOCOL_CONFIG, protocol.name);
    if (tls) {
      properties.putAll(tls());
    }
    if (user.isPresent() && !natives.containsKey(SaslConfigs.SASL_JAAS_CONFIG)) {
      String mechanism = natives.getOrDefault(SaslConfigs.SASL_MECHANISM, DEFAULT_MECHANISM);
      properties.put(SaslConfigs.SASL_MECHANISM, mechanism);
      properties.put(SaslConfigs.SASL_JAAS_CONFIG, new Password(login(mechanism, user.get())));
      config.find(Keys.BROKER_PASSWORD_FILE).ifPresent(
          file -> {
            properties.put(SaslConfigs.SASL_CLIENT_CALLBACK_HANDLER_CLASS, CurrentPassword.class.getName());
            properties.put(CurrentPassword.FILE, file.toString());
          });
    }
    return properties;
  }

  /** Returns TLS properties from PEM files, the format that the emitter and NATS use too. */
  private Map<String, Object> tls() {
    Map<String, Object> properties = new TreeMap<>();
    Optional<Path> authority = file(Keys.BROKER_TLS_CA, "tls_ca");
    Optional<Path> certificate = file(Keys.BROKER_TLS_CERT, "tls_cert");
    Optional<Path> key = file(Keys.BROKER_TLS_KEY, "tls_key");
    if (certificate.isPresent() != key.isPresent()) {
      throw new ConfigException("broker.tls.cert and broker.tls.key must be set together");
    }
    properties.put(SslConfigs.SSL_ENGINE_FACTORY_CLASS_CONFIG, CurrentTls.class.getName());
    authority.ifPresent(
        file -> {
          properties.put(SslConfigs.SSL_TRUSTSTORE_TYPE_CONFIG, "PEM");
          properties.put(CurrentTls.AUTHORITY, readable(Keys.BROKER_TLS_CA, file).toString());
        });
    if (key.isPresent()) {
      properties.put(SslConfigs.SSL_KEYSTORE_TYPE_CONFIG, "PEM");
      properties.put(CurrentTls.CERTIFICATE, readable(Keys.BROKER_TLS_CERT, certificate.get()).toString());
      properties.put(CurrentTls.KEY, readable(Keys.BROKER_TLS_KEY, key.get()).toString());
    }
    return properties;
  }

  private Optional<Path> file(ConfigKey<Path> key, String parameter) {
    return config.find(key).or(() -> Optional.ofNullable(url.parameters().get(parameter)).map(Path::of));
  }

  private String login(String mechanism, String user) {
    String module =
        mechanism.startsWith("SCRAM-")
            ? "org.apache.kafka.common.security.scram.ScramLoginModule"
            : "org.apache.kafka.common.security.plain.PlainLoginModule";
    String password =
        config
            .password()
            .orElseThrow(() -> new ConfigException("broker.user is set, but no password: set broker.password.file"));
    return module + " required username=\"" + quoted(user) + "\" password=\"" + quoted(password) + "\";";
  }

  private static String quoted(String text) {
    return text.replace("\\", "\\\\").replace("\"", "\\\"");
  }

  private static Path readable(ConfigKey<Path> key, Path file) {
    if (!Files.isReadable(file)) {
      throw new ConfigException(key.name() + "=" + file + ": cannot be read");
    }
    return file;
  }
}
