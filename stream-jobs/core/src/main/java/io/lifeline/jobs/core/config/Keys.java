package io.lifeline.jobs.core.config;

import static io.lifeline.jobs.core.config.ValueTypes.BROKER_URL;
import static io.lifeline.jobs.core.config.ValueTypes.DURATION_TYPE;
import static io.lifeline.jobs.core.config.ValueTypes.PATH;
import static io.lifeline.jobs.core.config.ValueTypes.PATHS;
import static io.lifeline.jobs.core.config.ValueTypes.SIZE_TYPE;
import static io.lifeline.jobs.core.config.ValueTypes.TEXT;
import static io.lifeline.jobs.core.config.ValueTypes.bool;
import static io.lifeline.jobs.core.config.ValueTypes.integer;
import static io.lifeline.jobs.core.config.ValueTypes.listMatching;
import static io.lifeline.jobs.core.config.ValueTypes.matching;
import static io.lifeline.jobs.core.config.ValueTypes.someOf;

import io.lifeline.jobs.core.config.ConfigKey.ValueType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** All settings. */
public final class Keys {

  private static final List<ConfigKey<?>> ALL = new ArrayList<>();

  private static final String TYPE_PATTERN = "[^,:\\s]+";

  public static final ConfigKey<BrokerUrl> BROKER_URL_KEY =
      key("broker.url", BROKER_URL, null, "Broker with the batches, to which results are written as well.");
  public static final ConfigKey<String> BROKER_USER =
      key("broker.user", TEXT, null, "User name at the broker.");
  public static final ConfigKey<Path> BROKER_PASSWORD_FILE =
      key("broker.password.file", PATH, null, "File whose first line is the password.");
  public static final ConfigKey<Path> BROKER_TLS_CA =
      key("broker.tls.ca", PATH, null, "PEM file of the CA certificates for the broker; enables TLS.");
  public static final ConfigKey<Path> BROKER_TLS_CERT =
      key("broker.tls.cert", PATH, null, "PEM file of the client's certificate.");
  public static final ConfigKey<Path> BROKER_TLS_KEY =
      key("broker.tls.key", PATH, null, "PEM file (PKCS #8) of the client's private key.");
  public static final ConfigKey<Path> BROKER_NATS_CREDS =
      key("broker.nats.creds", PATH, null, "NATS credentials file (JWT and nkey).");

  public static final ConfigKey<List<Path>> SIGNATURE_KEYS =
      key(
          "signature.keys",
          PATHS,
          null,
          "Files with 64 hex digits each: batches that were signed with none of these keys are rejected.");

  public static final ConfigKey<String> NAMES_PREFIX =
      key(
          "names.prefix",
          matching("letters, digits, dot, dash and underscore", "[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*"),
          "lifeline",
          "Prefix of the topics and subjects that jobs write to.");
  public static final ConfigKey<String> NATS_STREAM =
      key(
          "nats.stream",
          streamName(),
          "LIFELINE",
          "JetStream stream of the batches; stream= in the URL overrides it.");
  public static final ConfigKey<String> NATS_OUTPUT_STREAM =
      key(
          "nats.output.stream",
          streamName(),
          null,
          "JetStream stream of the results; by default that of the batches with _OUT.");
  public static final ConfigKey<String> NATS_BUCKET =
      key(
          "nats.bucket",
          streamName(),
          null,
          "Key-value bucket for checkpoints and leases; by default names.prefix with -jobs, and _ for dots.");
  public static final ConfigKey<Integer> NATS_GROUPS =
      key(
          "nats.groups",
          integer(1, 16),
          "1",
          "Groups of the 16 subjects, distributed evenly over instances; after a change jobs start over.");
  public static final ConfigKey<Duration> NATS_LEASE =
      key("nats.lease", DURATION_TYPE, "10s", "How long a silent instance keeps its tasks.");
  public static final ConfigKey<List<String>> EARLIER_PARTITIONS =
      key(
          "batches.partitions.earlier",
          listMatching("a comma-separated list of numbers", "[1-9][0-9]{0,4}"),
          null,
          "Kafka: how many partitions the batch topic had before it got more, for batches that were sent then.");
  public static final ConfigKey<Duration> CHECKPOINT_INTERVAL =
      key("checkpoint.interval", DURATION_TYPE, "1s", "Maximum time between two checkpoints.");
  public static final ConfigKey<Integer> CHECKPOINT_BATCHES =
      key("checkpoint.batches", integer(1, 100_000), "250", "Maximum number of batches between two checkpoints.");

  public static final ConfigKey<List<String>> JOBS =
      key(
          "jobs",
          someOf("decode", "filter", "pair", "rate", "summarise", "bottleneck", "archive", "ledger"),
          "summarise,ledger",
          "What to run.");
  public static final ConfigKey<Duration> RETENTION =
      key("retention", DURATION_TYPE, "7d", "How long the broker keeps batches, and silent emitters are remembered.");

  public static final ConfigKey<List<String>> DECODE_TYPES =
      key(
          "decode.types",
          listMatching("a comma-separated list of event types, each a name, prefix.* or *", TYPE_PATTERN),
          null,
          "Event types written as JSON, one topic each; required by the job decode.");
  public static final ConfigKey<Duration> DECODE_SKEW =
      key(
          "decode.skew",
          DURATION_TYPE,
          "30m",
          "Events further ahead of broker time, or before 1970, are counted and skipped: they would stop ksqlDB.");
  public static final ConfigKey<Integer> DECODE_PARTITIONS =
      key(
          "decode.partitions",
          integer(1, 10_000),
          "1",
          "Kafka: partitions of the topics created by the job decode; the scripts for ksqlDB use the same number.");
  public static final ConfigKey<Integer> DECODE_MAX_TOPICS =
      key(
          "decode.max.topics",
          integer(1, 100_000),
          "200",
          "Kafka: maximum number of topics for patterns in decode.types; events of further types are counted and "
              + "skipped.");
  public static final ConfigKey<List<String>> PAIR_BY =
      key(
          "pair.by",
          listMatching("a comma-separated list of field names", "[^,\\s]+"),
          "id",
          "Fields with equal values in a .start event and the matching .end event.");
  public static final ConfigKey<String> PAIR_TO =
      key("pair.to", derivedName(), "durations", "Name of the stream of the durations.");
  public static final ConfigKey<Duration> PAIR_TIMEOUT =
      key("pair.timeout", DURATION_TYPE, "1h", "How long one half of a pair waits for the other.");
  public static final ConfigKey<Integer> PAIR_MAX_OPEN =
      key(
          "pair.max.open",
          integer(1, 1_000_000),
          "10000",
          "Waiting halves of pairs per emitter, within 768 KiB; beyond that the oldest are counted and dropped.");
  public static final ConfigKey<List<String>> RATE_OF =
      key(
          "rate.of",
          listMatching(
              "a comma-separated list of TYPE:FIELD, where * in either matches any text",
              TYPE_PATTERN + ":" + TYPE_PATTERN),
          null,
          "Numeric fields whose change per second is computed; required by the job rate.");
  public static final ConfigKey<String> RATE_TO =
      key("rate.to", derivedName(), "rates", "Name of the stream of the rates.");
  public static final ConfigKey<Duration> SUMMARISE_WINDOW =
      key("summarise.window", DURATION_TYPE, "10s", "Length of a window, by event time.");
  public static final ConfigKey<List<String>> SUMMARISE_FIELDS =
      key(
          "summarise.fields",
          listMatching(
              "a comma-separated list of TYPE:FIELD, where * in either matches any text",
              TYPE_PATTERN + ":" + TYPE_PATTERN),
          "*:*",
          "Numeric fields to summarise.");
  public static final ConfigKey<List<String>> SUMMARISE_BY =
      key(
          "summarise.by",
          someOf("type", "host", "program", "incarnation", "route", "level"),
          "type",
          "Keys of a summary in addition to the field.");
  public static final ConfigKey<Duration> SUMMARISE_LATE =
      key("summarise.late", DURATION_TYPE, "1h", "How long late data revises its window.");
  public static final ConfigKey<Duration> SUMMARISE_IDLE =
      key("summarise.idle", DURATION_TYPE, "30s", "A silent emitter delays the end of windows at most this long.");
  public static final ConfigKey<Duration> SUMMARISE_SKEW =
      key("summarise.skew", DURATION_TYPE, "60s", "Events further ahead of broker time count as skewed.");

  public static final ConfigKey<Integer> SUMMARISE_MAX_WINDOWS =
      key(
          "summarise.max.windows",
          integer(1, 100_000_000),
          "100000",
          "Maximum number of open windows over all keys; values beyond that are counted and skipped.");

  public static final ConfigKey<List<String>> BOTTLENECK_COMPONENTS =
      key(
          "bottleneck.components",
          listMatching(
              "a comma-separated list of COMPONENT=OPERATION or COMPONENT@sender=OPERATION",
              "[A-Za-z0-9_-]+(@sender)?=" + TYPE_PATTERN),
          "disk-read=disk.read,network=net.receive,network@sender=net.send,disk-write=disk.write,disk-sync=disk.sync",
          "Components of a group, each with a caliper or pair of events that measures it; operations of one component "
              + "are combined. A component that is measured at its sender, too, is as fast as its faster end.");
  public static final ConfigKey<String> BOTTLENECK_BY =
      key(
          "bottleneck.by",
          matching("session, program or all", "session|program|all"),
          "session",
          "Which components are compared with each other; without a session in the batch, those of its program.");
  public static final ConfigKey<Duration> BOTTLENECK_INTERVAL =
      key("bottleneck.interval", DURATION_TYPE, "1s", "Length of a sample made of pairs of events, by event time.");
  public static final ConfigKey<Duration> BOTTLENECK_HOLD =
      key("bottleneck.hold", DURATION_TYPE, "2s", "How long the result must be stable before it is reported.");
  public static final ConfigKey<Duration> BOTTLENECK_IDLE =
      key("bottleneck.idle", DURATION_TYPE, "60s", "A group ends, with its alerts, after this silence.");
  public static final ConfigKey<Integer> BOTTLENECK_MAX_GROUPS =
      key(
          "bottleneck.max.groups",
          integer(1, 1_000_000),
          "1000",
          "Maximum number of monitored groups; samples of others are counted and skipped.");

  public static final ConfigKey<Path> ARCHIVE_DIR =
      key("archive.dir", PATH, null, "Directory of a Parquet archive; the job archive requires this or archive.url.");
  public static final ConfigKey<String> ARCHIVE_URL =
      key(
          "archive.url",
          matching(
              "postgresql://[user@]host[:port][,host:port]/database[?parameters], without a password",
              "postgres(ql)?://([^/@?:]+@)?[^/@?]+/[^/@?]+(\\?[^@]*)?"),
          null,
          "Database of a PostgreSQL archive, with parameters of its JDBC driver.");
  public static final ConfigKey<Path> ARCHIVE_PASSWORD_FILE =
      key("archive.password.file", PATH, null, "File whose first line is the password; default ~/.pgpass.");
  public static final ConfigKey<Path> ARCHIVE_TLS_CA =
      key(
          "archive.tls.ca",
          PATH,
          null,
          "PEM file of the CA certificates for the database server; enables TLS with verification.");
  public static final ConfigKey<String> ARCHIVE_SCHEMA =
      key(
          "archive.schema",
          matching("lower-case letters, digits and underscore, at most 50", "[a-z_][a-z0-9_]{0,49}"),
          "lifeline",
          "Schema of the views of a PostgreSQL archive; event tables are in a second schema with the suffix _data.");
  public static final ConfigKey<Duration> ARCHIVE_PARTITION =
      key(
          "archive.partition",
          DURATION_TYPE,
          "1d",
          "Time range of a table partition in PostgreSQL, in whole hours; fixed when the archive is created.");
  public static final ConfigKey<Duration> ARCHIVE_RETENTION =
      key(
          "archive.retention",
          DURATION_TYPE,
          null,
          "Age at which partitions of a PostgreSQL archive, or files of a Parquet archive, are dropped; by default "
              + "never.");
  public static final ConfigKey<Boolean> ARCHIVE_COMPACT =
      key(
          "archive.compact",
          bool(),
          "true",
          "Whether small files of a Parquet archive are merged in the background, on at most a quarter of a "
              + "processor.");
  public static final ConfigKey<Integer> ARCHIVE_THREADS =
      key(
          "archive.threads",
          integer(1, 64),
          null,
          "Kafka: threads that share the topic's partitions and archive.roll.bytes; by default one for two "
              + "processors, at most 4, and 1 on PostgreSQL.");
  public static final ConfigKey<Long> ARCHIVE_ROLL_BYTES =
      key(
          "archive.roll.bytes",
          SIZE_TYPE,
          null,
          "Maximum memory for events: by default 128MiB for Parquet files, 32MiB on PostgreSQL, half of it per "
              + "transaction. At most a quarter of the heap.");
  public static final ConfigKey<Duration> ARCHIVE_ROLL_INTERVAL =
      key(
          "archive.roll.interval",
          DURATION_TYPE,
          null,
          "Age at which events are stored: by default 60s in Parquet files, 1s on PostgreSQL.");

  public static final ConfigKey<Duration> LEDGER_INTERVAL =
      key("ledger.interval", DURATION_TYPE, "5s", "How often changed balances are published.");
  public static final ConfigKey<Duration> LEDGER_LOST_CONTACT =
      key(
          "ledger.lost.contact",
          DURATION_TYPE,
          "60s",
          "After this silence an emitter without FINAL counts as lost, and its gaps as missing.");

  public static final ConfigKey<String> HEALTH_LISTEN =
      key(
          "health.listen",
          matching("host:port, where port 0 is any free one", "(\\[[0-9A-Fa-f:]+]|[A-Za-z0-9._-]+):[0-9]{1,5}"),
          "127.0.0.1:0",
          "Address of /health and /metrics.");
  public static final ConfigKey<Path> STATE_DIR =
      key("state.dir", PATH, null, "Directory for the local state of Kafka Streams; a temporary one by default.");

  /** A setting under this prefix is a condition in CEL; the rest of its name is the name of its derived stream. */
  public static final String FILTER_PREFIX = "filter.";

  /** Names of derived streams: one token on every broker and, in upper case, part of an environment variable. */
  static final String DERIVED_NAME = "[a-z0-9][a-z0-9_-]{0,63}";

  /** Settings under this prefix are passed to the Kafka clients unchanged, without the prefix. */
  public static final String KAFKA_PREFIX = "kafka.";

  private Keys() {}

  public static List<ConfigKey<?>> all() {
    return List.copyOf(ALL);
  }

  private static ValueType<String> derivedName() {
    return matching("lower-case letters, digits, dash and underscore, at most 64", DERIVED_NAME);
  }

  private static ValueType<String> streamName() {
    return matching("letters, digits, dash and underscore", "[A-Za-z0-9_-]+");
  }

  private static <T> ConfigKey<T> key(String name, ValueType<T> type, String defaultText, String description) {
    ConfigKey<T> key = new ConfigKey<>(name, type, defaultText, description);
    ALL.add(key);
    return key;
  }
}
