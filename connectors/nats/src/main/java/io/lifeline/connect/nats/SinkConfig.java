package io.lifeline.connect.nats;

import io.lifeline.connect.nats.RecordMapper.Content;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Range;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigDef.ValidString;
import org.apache.kafka.common.config.ConfigDef.Width;
import org.apache.kafka.common.config.ConfigException;

/** The settings of {@link NatsSink}. */
final class SinkConfig extends AbstractConfig {

  static final String CONTENT = "content";
  static final String SUBJECT = "nats.subject";
  static final String STREAM = "nats.stream";
  static final String MESSAGE_ID = "nats.message.id";
  static final String MAX_IN_FLIGHT = "nats.max.in.flight";

  static final String ID_OFFSET = "offset";
  static final String ID_NONE = "none";
  static final String ID_HEADER = "header";

  private static final String GROUP = "Messages";

  static final ConfigDef DEF = define();

  SinkConfig(Map<String, String> properties) {
    super(DEF, properties, false);
  }

  private static ConfigDef define() {
    int order = 0;
    return ConnectionConfig.addTo(new ConfigDef())
        .define(
            CONTENT, Type.STRING, Content.ANY.text(), ValidString.in(Content.ANY.text(), Content.BATCHES.text()),
            Importance.HIGH,
            "Content of the records. 'any': anything. 'batches': Lifeline batches, published exactly as an emitter"
                + " publishes them: over 16 subjects below " + SUBJECT + " by incarnation, with the headers"
                + " Lifeline-Host and Lifeline-Program and the batch's id; " + MESSAGE_ID + " is ignored.",
            GROUP, ++order, Width.SHORT, "Content", Validators.offering(Content.ANY.text(), Content.BATCHES.text()))
        .define(
            SUBJECT, Type.STRING, "${topic}", Validators.named("a subject, which may contain ${topic}, ${partition} and"
                + " ${key}", SinkConfig::checkSubject), Importance.HIGH,
            "Subject to publish to, which must belong to a stream. ${topic}, ${partition} and ${key} are replaced by"
                + " those of the record.",
            GROUP, ++order, Width.MEDIUM, "Subject", Validators.offering("${topic}", "${topic}.${partition}", "${key}"))
        .define(
            STREAM, Type.STRING, null, Validators.matching("a stream name, without blank, dot, *, > or slash",
                "[^\\s.*>/\\\\]+"), Importance.LOW,
            "Stream that must store the messages; if another stream stores them, the task fails.",
            GROUP, ++order, Width.MEDIUM, "Stream")
        .define(
            MESSAGE_ID, Type.STRING, ID_OFFSET, ValidString.in(ID_OFFSET, ID_HEADER, ID_NONE), Importance.MEDIUM,
            "Source of Nats-Msg-Id, by which the stream drops duplicates within its duplicate window: 'offset':"
                + " connector name, topic, partition and offset; 'header': the record's header of that name; 'none'.",
            GROUP, ++order, Width.SHORT, "Message id", Validators.offering(ID_OFFSET, ID_HEADER, ID_NONE))
        .define(
            MAX_IN_FLIGHT, Type.INT, 1_000, Range.between(1, 100_000), Importance.LOW,
            "Maximum number of unacknowledged messages. If it is greater than 1, retries can reorder messages.",
            GROUP, ++order, Width.SHORT, "Messages in flight");
  }

  private static void checkSubject(String name, Object value) {
    String sample =
        ((String) value).replace("${topic}", "t").replace("${partition}", "0").replace("${key}", "k");
    if (!Subjects.isSubject(sample) || sample.matches(".*[${}].*")) {
      throw new ConfigException(
          name, value, "expected words separated by dots, which may contain ${topic}, ${partition} and ${key}");
    }
  }

  Content content() {
    return Content.valueOf(getString(CONTENT).toUpperCase(Locale.ROOT));
  }

  String subject() {
    return getString(SUBJECT);
  }

  /** Whether all messages go to one subject, which validation can check. */
  boolean hasFixedSubject() {
    return !subject().contains("${") && content() == Content.ANY;
  }

  int maxInFlight() {
    return getInt(MAX_IN_FLIGHT);
  }
}
