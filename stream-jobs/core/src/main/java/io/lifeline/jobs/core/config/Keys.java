package io.lifeline.jobs.core.config;

import static io.lifeline.jobs.core.config.ValueTypes.BROKER_URL;
import static io.lifeline.jobs.core.config.ValueTypes.DURATION_TYPE;
import static io.lifeline.jobs.core.config.ValueTypes.PATH;
import static io.lifeline.jobs.core.config.ValueTypes.PATHS;
import static io.lifeline.jobs.core.config.ValueTypes.SIZE_TYPE;
import static io.lifeline.jobs.core.config.ValueTypes.TEXT;
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
      key("broker.url", BROKER_URL, null, "Where the batches are, and where results go.");
  public static final ConfigKey<String> BROKER_USER =
      key("broker.user", TEXT, null, "User name at the broker.");
  public static final ConfigKey<Path> BROKER_PASSWORD_FILE =
      key("broker.password.file", PATH, null, "File whose first line is the password.");
  public static final ConfigKey<Path> BROKER_TLS_CA =
      key("broker.tls.ca", PATH, null, "PEM file of the authorities that may vouch for the broker; turns TLS on.");
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
          "What names of topics and subjects that jobs write to start with.");
  public static final ConfigKey<String> NATS_STREAM =
      key(
          "nats.stream",
          streamName(),
          "LIFELINE",
          "JetStream stream that holds the batches; stream= in the URL goes before it.");
  public static final ConfigKey<String> NATS_OUTPUT_STREAM =
      key(
          "nats.output.stream",
          streamName(),
          null,
          "JetStream stream that holds the results; by default that of the batches with _OUT.");
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
          "Groups of the 16 subjects that instances share out evenly among them; another number starts jobs over.");
  public static final ConfigKey<Duration> NATS_LEASE =
      key("nats.lease", DURATION_TYPE, "10s", "How long an instance that went silent keeps its tasks.");
  public static final ConfigKey<Duration> CHECKPOINT_INTERVAL =
      key("checkpoint.interval", DURATION_TYPE, "1s", "Longest time between two checkpoints.");
  public static final ConfigKey<Integer> CHECKPOINT_BATCHES =
      key("checkpoint.batches", integer(1, 100_000), "250", "Most batches between two checkpoints.");

  public static final ConfigKey<List<String>> JOBS =
      key(
          "jobs",
          someOf("decode", "filter", "pair", "rate", "summarise", "bottleneck", "archive", "ledger"),
          "summarise,ledger",
          "What to run.");
  public static final ConfigKey<Duration> RETENTION =
      key("retention", DURATION_TYPE, "7d", "How long the broker keeps batches: silent emitters are known that long.");

  public static final ConfigKey<List<String>> DECODE_TYPES =
      key(
          "decode.types",
          listMatching("a comma-separated list of event types, each a name, prefix.* or *", TYPE_PATTERN),
          null,
          "Event types that are written out as JSON, one topic each; needed by the job decode.");
  public static final ConfigKey<Duration> DECODE_SKEW =
      key(
          "decode.skew",
          DURATION_TYPE,
          "30m",
          "Events further ahead of broker time, or before 1970, are counted and left out: they would stop ksqlDB.");
  public static final ConfigKey<Integer> DECODE_PARTITIONS =
      key(
          "decode.partitions",
          integer(1, 10_000),
          "1",
          "Kafka: partitions of the topics that the job decode makes; the scripts for ksqlDB say the same number.");
  public static final ConfigKey<Integer> DECODE_MAX_TOPICS =
      key(
          "decode.max.topics",
          integer(1, 100_000),
          "200",
          "Kafka: topics that patterns in decode.types may lead to; events of further types are counted and left out.");
  public static final ConfigKey<List<String>> PAIR_BY =
      key(
          "pair.by",
          listMatching("a comma-separated list of names of fields", "[^,\\s]+"),
          "id",
          "Fields that are equal in a .start event and in the .end event that belongs to it.");
  public static final ConfigKey<String> PAIR_TO =
      key("pair.to", derivedName(), "durations", "Name of the stream that takes the durations.");
  public static final ConfigKey<Duration> PAIR_TIMEOUT =
      key("pair.timeout", DURATION_TYPE, "1h", "How long one half of a pair waits for the other.");
  public static final ConfigKey<Integer> PAIR_MAX_OPEN =
      key(
          "pair.max.open",
          integer(1, 1_000_000),
          "10000",
          "Halves of pairs that may wait, per emitter, within 768 KiB; beyond it the oldest are counted and given up.");
  public static final ConfigKey<List<String>> RATE_OF =
      key(
          "rate.of",
          listMatching(
              "a comma-separated list of TYPE:FIELD, where * in either matches any text",
              TYPE_PATTERN + ":" + TYPE_PATTERN),
          null,
          "Numeric fields whose change per second is computed; needed by the job rate.");
  public static final ConfigKey<String> RATE_TO =
      key("rate.to", derivedName(), "rates", "Name of the stream of the rates.");
  public static final ConfigKey<Duration> SUMMARISE_WINDOW =
      key("summarise.window", DURATION_TYPE, "10s", "Length of a window, by event time.");
  public static final ConfigKey<List<String>> SUMMARISE_FIELDS =
      key(
          "summarise.fields",
          listMatching(
              "a comma-separated list of TYPE:FIELD, where * in either stands for anything",
              TYPE_PATTERN + ":" + TYPE_PATTERN),
          "*:*",
          "Numeric fields that are summarised.");
  public static final ConfigKey<List<String>> SUMMARISE_BY =
      key(
          "summarise.by",
          someOf("type", "host", "program", "incarnation", "route", "level"),
          "type",
          "What apart from the field tells one summary from another.");
  public static final ConfigKey<Duration> SUMMARISE_LATE =
      key("summarise.late", DURATION_TYPE, "1h", "How long late data still revises its window.");
  public static final ConfigKey<Duration> SUMMARISE_IDLE =
      key("summarise.idle", DURATION_TYPE, "30s", "After that much silence an emitter no longer holds windows open.");
  public static final ConfigKey<Duration> SUMMARISE_SKEW =
      key("summarise.skew", DURATION_TYPE, "60s", "Events further ahead of broker time than that count as skewed.");

  public static final ConfigKey<Integer> SUMMARISE_MAX_WINDOWS =
      key(
          "summarise.max.windows",
          integer(1, 100_000_000),
          "100000",
          "Open windows, over all keys, that are held in memory; values beyond that are counted and left out.");

  public static final ConfigKey<List<String>> BOTTLENECK_COMPONENTS =
      key(
          "bottleneck.components",
          listMatching(
              "a comma-separated list of COMPONENT=OPERATION", "[A-Za-z0-9_-]+=" + TYPE_PATTERN),
          "disk-read=disk.read,network=net.receive,disk-write=disk.write",
          "What may hold a group up, each with a caliper or pair of events that measures it; operations of one "
              + "component are taken together.");
  public static final ConfigKey<String> BOTTLENECK_BY =
      key(
          "bottleneck.by",
          matching("session, program or all", "session|program|all"),
          "session",
          "Whose components are compared with each other; where a batch names no session, its program's.");
  public static final ConfigKey<Duration> BOTTLENECK_INTERVAL =
      key("bottleneck.interval", DURATION_TYPE, "1s", "Length of a sample made of pairs of events, by event time.");
  public static final ConfigKey<Duration> BOTTLENECK_HOLD =
      key("bottleneck.hold", DURATION_TYPE, "5s", "How long the answer must be the same before it is told.");
  public static final ConfigKey<Duration> BOTTLENECK_IDLE =
      key("bottleneck.idle", DURATION_TYPE, "60s", "After that much silence a group is over, and so are its alerts.");
  public static final ConfigKey<Integer> BOTTLENECK_MAX_GROUPS =
      key(
          "bottleneck.max.groups",
          integer(1, 1_000_000),
          "1000",
          "Groups that are watched at once; samples of others are counted and left out.");

  public static final ConfigKey<Path> ARCHIVE_DIR =
      key("archive.dir", PATH, null, "Directory of a Parquet archive; the job archive needs this or archive.url.");
  public static final ConfigKey<String> ARCHIVE_URL =
      key(
          "archive.url",
          matching(
              "postgresql://[user@]host[:port][,host:port]/database[?parameters], without a password",
              "postgres(ql)?://([^/@?:]+@)?[^/@?]+/[^/@?]+(\\?[^@]*)?"),
          null,
          "Database of a PostgreSQL archive; the parameters are those of its JDBC driver.");
  public static final ConfigKey<Path> ARCHIVE_PASSWORD_FILE =
      key("archive.password.file", PATH, null, "File whose first line is the password; else ~/.pgpass counts.");
  public static final ConfigKey<Path> ARCHIVE_TLS_CA =
      key(
          "archive.tls.ca",
          PATH,
          null,
          "PEM file of the authorities that may vouch for the database's server; turns TLS with its checks on.");
  public static final ConfigKey<String> ARCHIVE_SCHEMA =
      key(
          "archive.schema",
          matching("small letters, digits and underscore, at most 50", "[a-z_][a-z0-9_]{0,49}"),
          "lifeline",
          "Schema of a PostgreSQL archive's views; its events' tables are in another one, with _data behind the name.");
  public static final ConfigKey<Duration> ARCHIVE_PARTITION =
      key(
          "archive.partition",
          DURATION_TYPE,
          "1d",
          "Time that one partition of a table in PostgreSQL covers, in whole hours; decided when the archive is made.");
  public static final ConfigKey<Duration> ARCHIVE_RETENTION =
      key(
          "archive.retention",
          DURATION_TYPE,
          null,
          "After that time partitions of a PostgreSQL archive are dropped; by default they are kept.");
  public static final ConfigKey<Long> ARCHIVE_ROLL_BYTES =
      key(
          "archive.roll.bytes",
          SIZE_TYPE,
          null,
          "Events take about this much memory at most: by default 128MiB for Parquet files, 32MiB on PostgreSQL, of"
              + " which a transaction is half.");
  public static final ConfigKey<Duration> ARCHIVE_ROLL_INTERVAL =
      key(
          "archive.roll.interval",
          DURATION_TYPE,
          null,
          "Events are stored at this age: by default after 60s in Parquet files, 1s on PostgreSQL.");

  public static final ConfigKey<Duration> LEDGER_INTERVAL =
      key("ledger.interval", DURATION_TYPE, "5s", "How often changed balances are published.");
  public static final ConfigKey<Duration> LEDGER_LOST_CONTACT =
      key(
          "ledger.lost.contact",
          DURATION_TYPE,
          "60s",
          "After that much silence an emitter that never said FINAL counts as lost, and its gaps as missing.");

  public static final ConfigKey<String> HEALTH_LISTEN =
      key(
          "health.listen",
          matching("host:port, where port 0 is any free one", "(\\[[0-9A-Fa-f:]+]|[A-Za-z0-9._-]+):[0-9]{1,5}"),
          "127.0.0.1:0",
          "Where /health and /metrics answer.");
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
