package io.lifeline.ksql;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.core.config.Keys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests of the scripts that need no server: their form, and that they read what the job decode writes. */
class MigrationsTest {

  private static final Pattern NAME = Pattern.compile("V(\\d{6})__[a-z_]+\\.sql");
  private static final Pattern SOURCE =
      Pattern.compile(
          "CREATE STREAM \\w+ \\(([^()]*)\\) WITH \\(\\s*KAFKA_TOPIC = '(lifeline\\.events\\.[^']*)'([^;]*)\\);");
  private static final Pattern COLUMN = Pattern.compile("\\s*(\\w+) (VARCHAR|BIGINT|INT|DOUBLE|BOOLEAN)( KEY)?\\s*");

  /** Columns of every event, besides its own fields, that queries rarely need; and a reserved word of ksqlDB. */
  private static final Set<String> LEFT_OUT = Set.of("level", "incarnation", "route", "sequence", "event_index", "run");

  /** A stream over the events of one type. */
  private record Source(String topic, Map<String, String> columns, String properties) {

    String type() {
      return topic.substring("lifeline.events.".length());
    }

    @Override
    public String toString() {
      return topic;
    }
  }

  static List<Path> files() {
    return Migrations.files();
  }

  static Stream<Source> sources() {
    return SOURCE.matcher(Migrations.text()).results().map(
        found -> {
          Map<String, String> columns = new LinkedHashMap<>();
          for (String text : found.group(1).split(",")) {
            Matcher column = COLUMN.matcher(text);
            assertThat(column.matches()).as(text).isTrue();
            if (column.group(3) == null) {
              columns.put(column.group(1), column.group(2));
            }
          }
          return new Source(found.group(2), columns, found.group(3));
        });
  }

  @Test
  void areNumberedWithoutAGap() {
    List<Path> files = files();
    assertThat(files).isNotEmpty();
    for (int i = 0; i < files.size(); i++) {
      Matcher name = NAME.matcher(files.get(i).getFileName().toString());
      assertThat(name.matches()).as(files.get(i).toString()).isTrue();
      assertThat(Integer.parseInt(name.group(1))).isEqualTo(i + 1);
    }
  }

  /**
   * Some tools that split scripts into statements do not recognise comments, and for ksqlDB a bare "--" is not a
   * comment by itself: it includes the next line.
   */
  @ParameterizedTest
  @MethodSource("files")
  void haveCommentsThatNobodyMistakes(Path file) {
    assertThat(Migrations.text(file).lines().filter(line -> line.contains("--")))
        .allMatch(line -> line.matches("-- [^;'\"`]+"));
  }

  @ParameterizedTest
  @MethodSource("files")
  void areStatementsThatTheMigrationToolTakes(Path file) {
    String text = Migrations.text(file).replaceAll("(?m)^--.*$", "").strip();
    assertThat(text).endsWith(";").doesNotContain("${");
    assertThat(text.split(";\\s*"))
        .allMatch(statement -> statement.matches("(?s)(SET|CREATE (STREAM|TABLE)|INSERT INTO) .*"));
  }

  /** Without it, a query starts with new events, and existing ones are missing. */
  @ParameterizedTest
  @MethodSource("files")
  void startStandingQueriesAtTheBeginning(Path file) {
    String text = Migrations.text(file);
    int query = text.indexOf("EMIT CHANGES;");
    if (query >= 0) {
      assertThat(text.indexOf("SET 'auto.offset.reset' = 'earliest';")).isBetween(0, query);
    }
  }

  @Test
  void readSeveralTypesOfEvents() {
    assertThat(sources()).extracting(Source::type).contains("disk.read.end", "generator.measurement", "generator.reading");
  }

  @ParameterizedTest
  @MethodSource("sources")
  void declareColumnsThatDecodedEventsHave(Source source) throws JsonProcessingException {
    EventType type = Catalogue.type(source.type());
    Object[] values = type.fields().stream().map(field -> value(field.type())).toArray();
    List<Decoded.Message> messages =
        Decoded.of(Samples.batch(1, 1).type(1, type).event(type, Samples.START_NS, values));
    assertThat(messages).singleElement().extracting(Decoded.Message::topic).isEqualTo(source.topic());
    JsonNode event = new ObjectMapper().readTree(messages.get(0).json());
    source.columns().forEach(
        (column, sqlType) -> {
          assertThat(event.has(column)).as(column).isTrue();
          assertThat(sqlType).as(column).isEqualTo(sqlType(event.get(column)));
        });
    event.fieldNames().forEachRemaining(
        field -> {
          if (!LEFT_OUT.contains(field)) {
            assertThat(source.columns()).containsKey(field);
          }
        });
  }

  @ParameterizedTest
  @MethodSource("sources")
  void takeTheTimeOfTheEventAndOnePartitionAsTheJobMakesThem(Source source) {
    assertThat(source.properties())
        .contains("TIMESTAMP = 'ts'", "TIMESTAMP_FORMAT = 'yyyy-MM-dd''T''HH:mm:ss.SSSSSSSSSX'", "PARTITIONS = 1,");
  }

  @Test
  void nameNoStreamOrTableTwice() {
    assertThat(
            Pattern.compile("CREATE (?:STREAM|TABLE) (\\w+)").matcher(Migrations.text()).results().map(m -> m.group(1)))
        .doesNotHaveDuplicates();
  }

  /** With ksqlDB's defaults, events are counted twice after a kill, and a catch-up loses operations. */
  @Test
  void areServedByTheSameSettingsInComposeAsShip() throws IOException {
    Map<String, String> settings = Migrations.serverVariables();
    assertThat(settings).containsEntry("KSQL_KSQL_STREAMS_PROCESSING_GUARANTEE", "exactly_once_v2")
        .containsEntry("KSQL_KSQL_STREAMS_MAX_TASK_IDLE_MS", "5000")
        .containsEntry("KSQL_KSQL_LOGGING_PROCESSING_TOPIC_AUTO_CREATE", "true");
    String compose = Files.readString(Path.of("..", "..", "..", "compose", "ksqldb.yaml")).replace("\"", "");
    settings.forEach((name, value) -> assertThat(compose).contains("      " + name + ": " + value + "\n"));
    String log = settings.get("KSQL_KSQL_LOGGING_PROCESSING_TOPIC_NAME");
    assertThat(compose).contains("KSQL_LOG4J_PROCESSING_LOG_TOPIC: " + log + "\n", "KSQL_LOG4J_PROCESSING_LOG_BROKERLIST: kafka:");
  }

  /** History is read series by series: events for a window that has closed after an hour's grace would be missing. */
  @Test
  void takeAllOfTheirRetentionLate() {
    assertThat(Pattern.compile("RETENTION 1 DAY, GRACE PERIOD ([^)]*)\\)").matcher(Migrations.text()).results()
        .map(window -> window.group(1))).isNotEmpty().allMatch("23 HOURS"::equals);
  }

  /** A clock that decode lets be ahead closes windows for every emitter: without that grace, others lose their rows. */
  @Test
  void forgiveMoreThanTheJobDecodeLetsClocksBeAhead() {
    Duration least = Keys.DECODE_SKEW.type().parse(Keys.DECODE_SKEW.defaultText()).plusMinutes(15);
    List<Duration> graces = Pattern.compile("GRACE PERIOD (\\d+) (MINUTES|HOURS)").matcher(Migrations.text()).results()
        .map(found -> Duration.of(Long.parseLong(found.group(1)), ChronoUnit.valueOf(found.group(2)))).toList();
    assertThat(graces).hasSize(Migrations.text().split("WITHIN|WINDOW ").length - 1)
        .allSatisfy(grace -> assertThat(grace).isGreaterThanOrEqualTo(least));
  }

  /** Operations from before the scripts have limits too. */
  @Test
  void setLimitsThatHoldFromTheBeginning() {
    assertThat(Migrations.text().lines().filter(line -> line.startsWith("INSERT INTO limits"))).isNotEmpty()
        .allMatch(line -> line.startsWith("INSERT INTO limits (ROWTIME, name, max_ms) VALUES (0, "));
  }

  private static Object value(FieldType type) {
    return switch (type) {
      case F32 -> 1.5f;
      case F64 -> 1.5;
      case BOOL -> true;
      case STRING -> "text";
      case BYTES -> new byte[1];
      case I32 -> 1;
      default -> 1L;
    };
  }

  private static String sqlType(JsonNode value) {
    return switch (value.getNodeType()) {
      case STRING -> "VARCHAR";
      case BOOLEAN -> "BOOLEAN";
      case NUMBER -> value.isIntegralNumber() ? "BIGINT" : "DOUBLE";
      default -> value.getNodeType().name().toLowerCase(Locale.ROOT);
    };
  }
}
