package io.lifeline.connect.nats;

import io.lifeline.connect.nats.RecordMapper.Content;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Range;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigDef.ValidString;
import org.apache.kafka.common.config.ConfigDef.Width;
import org.apache.kafka.common.config.ConfigException;

/** The settings of {@link JetStreamSource}. */
final class SourceConfig extends AbstractConfig {

  static final String STREAM = "nats.stream";
  static final String SUBJECTS = "nats.subjects";
  static final String START = "nats.start";
  static final String READ_AHEAD = "nats.read.ahead.bytes";
  static final String CONTENT = "content";
  static final String TOPIC = "kafka.topic";
  static final String KEY = "kafka.key";
  static final String HEADERS = "kafka.headers";
  static final String POLL_RECORDS = "poll.max.records";

  /** Which of the filters one task reads; only the connector itself sets it. */
  static final String TASK_SUBJECTS = "task.subjects";

  static final String START_FIRST = "first";
  static final String START_NEW = "new";

  private static final String GROUP = "Stream";
  private static final String GROUP_RECORDS = "Records";
  private static final int MIB = 1 << 20;

  static final ConfigDef DEF = define();

  SourceConfig(Map<String, String> properties) {
    super(DEF, properties, false);
  }

  private static ConfigDef define() {
    ConfigDef def = ConnectionConfig.addTo(new ConfigDef());
    int order = 0;
    def.define(
            STREAM, Type.STRING, ConfigDef.NO_DEFAULT_VALUE,
            Validators.matching("a stream name, without blank, dot, *, > or slash", "[^\\s.*>/\\\\]+"),
            Importance.HIGH, "JetStream stream to read.", GROUP, ++order, Width.MEDIUM, "Stream")
        .define(
            SUBJECTS, Type.LIST, List.of(">"), Validators.named("non-overlapping subjects, which may contain * and a"
                + " final >", SourceConfig::checkSubjects), Importance.HIGH,
            "Comma-separated list of the subjects to read. One task reads each subject in order, with its own offset:"
                + " the number of subjects limits the number of tasks. Subjects must not overlap.",
            GROUP, ++order, Width.LONG, "Subjects")
        .define(
            START, Type.STRING, START_FIRST, Validators.named("first, new, or a time as 2026-11-21T00:00:00Z",
                SourceConfig::checkStart), Importance.MEDIUM,
            "Start position of a subject without an offset: the stream's first message, messages from now on, or a"
                + " time. Until the first record is written, 'new' begins at the latest restart.",
            GROUP, ++order, Width.MEDIUM, "Start", Validators.offering(START_FIRST, START_NEW))
        .define(
            READ_AHEAD, Type.INT, 16 * MIB, Range.between(MIB, 1024 * MIB), Importance.LOW,
            "Number of bytes that each task prefetches from the server.",
            GROUP, ++order, Width.SHORT, "Read ahead");
    order = 0;
    return def.define(
            CONTENT, Type.STRING, Content.ANY.text(), ValidString.in(Content.ANY.text(), Content.BATCHES.text()),
            Importance.HIGH,
            "Content of the messages. 'any': anything, value and headers unchanged. 'batches': Lifeline batches, as an"
                + " emitter writes them to Kafka: keyed by incarnation, with the headers lifeline-host and"
                + " lifeline-program; " + KEY + " and " + HEADERS + " are ignored.",
            GROUP_RECORDS, ++order, Width.SHORT, "Content",
            Validators.offering(Content.ANY.text(), Content.BATCHES.text()))
        .define(
            TOPIC, Type.STRING, "${stream}", Validators.named("a topic, which may contain ${stream} and ${subject}",
                SourceConfig::checkTopic), Importance.HIGH,
            "Topic to write to. ${stream} and ${subject} are replaced by those of the message; if the result is not a"
                + " valid topic name, _ replaces illegal characters and a hash of the name is appended.",
            GROUP_RECORDS, ++order, Width.MEDIUM, "Topic", Validators.offering("${stream}", "${subject}"))
        .define(
            KEY, Type.STRING, "subject", Validators.matching("subject, none, or header:NAME",
                "subject|none|header:[!-9;-~]+"), Importance.MEDIUM,
            "Key of the records, which selects their partition: the subject, which keeps each subject in order; the"
                + " first value of a header; or none.",
            GROUP_RECORDS, ++order, Width.MEDIUM, "Key", Validators.offering("subject", "none"))
        .define(
            HEADERS, Type.STRING, "message", ValidString.in("none", "message", "all"), Importance.LOW,
            "Headers of the records. 'message': those of the message; 'all': also nats.stream, nats.subject,"
                + " nats.sequence and nats.time (in nanoseconds; a record's time has milliseconds); 'none'.",
            GROUP_RECORDS, ++order, Width.SHORT, "Headers", Validators.offering("none", "message", "all"))
        .define(
            POLL_RECORDS, Type.INT, 10_000, Range.between(1, 1_000_000), Importance.LOW,
            "Maximum number of records per poll, and per transaction with transaction.boundary=poll.",
            GROUP_RECORDS, ++order, Width.SHORT, "Records per poll");
  }

  private static void checkSubjects(String name, Object value) {
    List<?> subjects = (List<?>) value;
    if (subjects == null || subjects.isEmpty()) {
      throw new ConfigException(name, value, "expected at least one subject");
    }
    for (int i = 0; i < subjects.size(); i++) {
      String subject = (String) subjects.get(i);
      if (!Subjects.isFilter(subject)) {
        throw new ConfigException(name, subject, "not a valid subject");
      }
      for (Object other : subjects.subList(0, i)) {
        if (Subjects.overlap(subject, (String) other)) {
          throw new ConfigException(
              name, subject, "it overlaps with " + other + ": some messages would be read twice");
        }
      }
    }
  }

  private static void checkStart(String name, Object value) {
    if (!START_FIRST.equals(value) && !START_NEW.equals(value)) {
      try {
        Instant.parse((String) value);
      } catch (DateTimeParseException e) {
        throw new ConfigException(name, value, "expected first, new, or a time as 2026-11-21T00:00:00Z");
      }
    }
  }

  private static void checkTopic(String name, Object value) {
    String sample = ((String) value).replace("${stream}", "s").replace("${subject}", "s");
    if (!sample.matches("[A-Za-z0-9._-]{1,249}")) {
      throw new ConfigException(
          name, value, "expected letters, digits, dots, dashes, underscores, ${stream} and ${subject}");
    }
  }

  String stream() {
    return getString(STREAM);
  }

  List<String> subjects() {
    return getList(SUBJECTS);
  }

  int readAheadBytes() {
    return getInt(READ_AHEAD);
  }

  int pollRecords() {
    return getInt(POLL_RECORDS);
  }

  Content content() {
    return Content.valueOf(getString(CONTENT).toUpperCase(Locale.ROOT));
  }

  String topic() {
    return getString(TOPIC);
  }

  boolean startsWithNew() {
    return START_NEW.equals(getString(START));
  }

  /** The time to start at, if there is one. */
  Optional<Instant> startTime() {
    String start = getString(START);
    return start.equals(START_FIRST) || start.equals(START_NEW) ? Optional.empty() : Optional.of(Instant.parse(start));
  }
}
