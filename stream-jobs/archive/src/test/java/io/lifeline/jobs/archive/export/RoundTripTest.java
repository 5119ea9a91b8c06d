package io.lifeline.jobs.archive.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.cases.Hostile;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.ArchivedType;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.DuckDb;
import io.lifeline.jobs.archive.EventCursor;
import io.lifeline.jobs.archive.EventReader;
import io.lifeline.jobs.archive.EventSelection;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.core.FieldNames;
import io.lifeline.jobs.core.Glob;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamReader;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an export contains is what the archive has, for hostile batches as well. */
class RoundTripTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final EventType LARGE =
      EventType.named("large").field("text", FieldType.STRING).field("x", FieldType.F32).build();
  private static final Pattern PAIR =
      Pattern.compile("([A-Za-z0-9_.\\-]+)=(\"(?:[^\"\\\\]|\\\\.)*+\"|[^\\s\"=]*+)(?: |$)");

  @TempDir Path directory;

  private Exports exports;
  private List<byte[]> batches;

  @BeforeEach
  void archiveHostileBatches() throws Exception {
    exports = new Exports(directory);
    batches = new ArrayList<>(Exports.hostile());
    BatchWriter more = Archives.batch(new Incarnation(9, 9), 1);
    for (int i = 0; i < 5; i++) {
      more.event(LARGE, i, "\u202e<&\"'\u0001\uD83D\uDE00\t,\r\n".repeat(1_000), Float.NaN);
    }
    batches.add(more.toByteArray());
  }

  /** In files of their own, and in shared ones. */
  @ParameterizedTest
  @ValueSource(ints = {0, 10_000})
  void readingGivesTheEventsOfTheBatches(int rareRows) throws Exception {
    exports.archive(batches, rareRows);
    try (EventReader reader = exports.reader()) {
      assertThat(Events.of(reader, EventSelection.ALL)).containsExactlyElementsOf(Events.of(batches));
    }
  }

  /** The events of the archive as members and values that every format has. */
  private List<Map<String, String>> archived() throws Exception {
    List<Map<String, String>> all = new ArrayList<>();
    try (EventReader reader = exports.reader(); EventCursor events = reader.read(EventSelection.ALL)) {
      for (ArchivedEvent event = events.next(); event != null; event = events.next()) {
        Map<String, String> values = new LinkedHashMap<>();
        for (int i = 0; i < event.values().length; i++) {
          ArchivedType.Member member = event.type().members().get(i);
          Object value = event.values()[i];
          values.put(member.name(), text(member.type(), value));
        }
        values.put("@ts_ns", Long.toString(event.timeNs()));
        values.put("@type", event.type().name());
        values.put("@host", event.host());
        values.put("@program", event.program());
        values.put("@pid", Long.toString(event.pid()));
        values.put("@thread", Long.toUnsignedString(event.thread()));
        all.add(values);
      }
    }
    return all;
  }

  /** Numbers as Java writes them, so that only values are compared: to many readers of JSON -0 is an integer. */
  private static String text(FieldType type, Object value) {
    return switch (type) {
      case F32 -> Float.toString(number(value.toString()).floatValue() + 0f);
      case F64 -> Double.toString(number(value.toString()).doubleValue() + 0d);
      case U64 -> value instanceof Long bits ? Long.toUnsignedString(bits) : value.toString();
      default -> value.toString();
    };
  }

  private static Number number(String text) {
    return switch (text) {
      case "nan" -> Double.NaN;
      case "inf" -> Double.POSITIVE_INFINITY;
      case "-inf" -> Double.NEGATIVE_INFINITY;
      default -> Double.valueOf(text);
    };
  }

  private static void put(Map<String, String> values, Map<String, FieldType> types, String name, String text) {
    FieldType type = types.get(name);
    values.put(name, type != null && type.isFloating() ? text(type, text) : text);
  }

  /** Types of the members of each event, for formats that do not have them. */
  private List<Map<String, FieldType>> types() throws Exception {
    List<Map<String, FieldType>> all = new ArrayList<>();
    try (EventReader reader = exports.reader(); EventCursor events = reader.read(EventSelection.ALL)) {
      for (ArchivedEvent event = events.next(); event != null; event = events.next()) {
        Map<String, FieldType> types = new LinkedHashMap<>();
        event.type().members().forEach(member -> types.put(member.name(), member.type()));
        all.add(types);
      }
    }
    return all;
  }

  @Test
  void xmlReadsBack() throws Exception {
    exports.archive(batches, 10_000);
    exports.write(ExportFormat.XML, "events.xml");
    List<Map<String, String>> all = new ArrayList<>();
    Map<String, String> values = new LinkedHashMap<>();
    try (var in = Files.newInputStream(exports.file("events.xml"))) {
      XMLStreamReader xml = XMLInputFactory.newInstance().createXMLStreamReader(in);
      while (xml.hasNext()) {
        int what = xml.next();
        if (what == XMLStreamConstants.START_ELEMENT && xml.getLocalName().equals("event")) {
          values = new LinkedHashMap<>();
          for (String name : List.of("ts_ns", "type", "host", "program", "pid", "thread")) {
            values.put("@" + name, attribute(xml, name));
          }
          all.add(values);
        } else if (what == XMLStreamConstants.START_ELEMENT && xml.getLocalName().equals("field")) {
          FieldType type = FieldType.valueOf(attribute(xml, "type").toUpperCase(Locale.ROOT));
          values.put(attribute(xml, "name"), text(type, attribute(xml, "value")));
        }
      }
    }
    assertThat(all).containsExactlyElementsOf(archived());
  }

  private static String attribute(XMLStreamReader xml, String name) {
    String plain = xml.getAttributeValue(null, name);
    return plain != null ? plain
        : new String(Base64.getDecoder().decode(xml.getAttributeValue(null, name + "-base64")), StandardCharsets.UTF_8);
  }

  @Test
  void jsonReadsBack() throws Exception {
    exports.archive(batches, 10_000);
    List<Map<String, FieldType>> types = types();
    List<Map<String, String>> all = new ArrayList<>();
    for (String line : exports.text(ExportFormat.JSON).split("\n")) {
      JsonNode event = MAPPER.readTree(line);
      Map<String, String> values = new LinkedHashMap<>();
      for (String name : types.get(all.size()).keySet()) {
        String key = FieldNames.beside(FieldNames.EVERY_EVENT, name);
        JsonNode value = event.get(key).isNull() ? event.get("non_finite").get(key) : event.get(key);
        put(values, types.get(all.size()), name, value.asText());
      }
      for (String name : List.of("ts_ns", "type", "host", "program", "pid", "thread")) {
        values.put("@" + name, event.get(name).asText());
      }
      all.add(values);
    }
    assertThat(all).containsExactlyElementsOf(archived());
  }

  /** BP has microseconds, and names in its own letters; so values are compared by their order. */
  @Test
  void bpReadsBack() throws Exception {
    exports.archive(batches, 10_000);
    List<Map<String, FieldType>> types = types();
    List<List<String>> all = new ArrayList<>();
    for (String line : exports.text(ExportFormat.BP).split("\n")) {
      List<String> values = new ArrayList<>();
      Matcher pair = PAIR.matcher(line);
      while (pair.lookingAt()) {
        String value = pair.group(2);
        values.add(value.startsWith("\"") ? MAPPER.readTree(value).asText() : value);
        pair.region(pair.end(), line.length());
      }
      assertThat(pair.regionStart()).as(line).isEqualTo(line.length());
      List<String> expected = new ArrayList<>();
      int member = 3;
      for (FieldType type : types.get(all.size()).values()) {
        expected.add(type.isFloating() ? text(type, values.get(member)) : values.get(member));
        member++;
      }
      expected.add(values.get(1));
      expected.addAll(values.subList(member, member + 4));
      all.add(expected);
    }
    assertThat(all).containsExactlyElementsOf(archived().stream().map(event -> {
      event.remove("@ts_ns");
      return (List<String>) new ArrayList<>(event.values());
    }).toList());
  }

  @Test
  void csvReadsBack() throws Exception {
    exports.archive(batches, 10_000);
    List<Map<String, FieldType>> types = types();
    List<List<String>> rows = csv(exports.text(ExportFormat.CSV));
    List<String> titles = rows.remove(0);
    List<Map<String, String>> all = new ArrayList<>();
    for (List<String> row : rows) {
      assertThat(row).hasSameSizeAs(titles);
      all.add(row(titles, row, types.get(all.size())));
    }
    assertThat(all).containsExactlyElementsOf(archived());
  }

  private static Map<String, String> row(List<String> titles, List<String> cells, Map<String, FieldType> types)
      throws Exception {
    Map<String, String> values = new LinkedHashMap<>();
    JsonNode fields = MAPPER.readTree(cells.get(titles.indexOf("fields")));
    for (Map.Entry<String, JsonNode> field : fields.properties()) {
      put(values, types, field.getKey(), field.getValue().asText());
    }
    for (String name : List.of("ts_ns", "type", "host", "program", "pid", "thread")) {
      values.put("@" + name, cells.get(titles.indexOf(name)));
    }
    return values;
  }

  /** RFC 4180, to the letter: any other use of quotes, or a line that ends otherwise, is an error. */
  private static List<List<String>> csv(String text) {
    List<List<String>> rows = new ArrayList<>();
    List<String> row = new ArrayList<>();
    Matcher cell = Pattern.compile("(?:\"((?:[^\"]|\"\")*+)\"|([^\",\r\n]*+))(,|\r\n)").matcher(text);
    int at = 0;
    while (cell.find(at) && cell.start() == at) {
      row.add(cell.group(1) != null ? cell.group(1).replace("\"\"", "\"") : cell.group(2));
      if (!cell.group(3).equals(",")) {
        rows.add(row);
        row = new ArrayList<>();
      }
      at = cell.end();
      if (at == text.length()) {
        break;
      }
    }
    assertThat(at).isEqualTo(text.length());
    return rows;
  }

  @Test
  void parquetReadsBack() throws Exception {
    exports.archive(batches, 10_000);
    exports.write(ExportFormat.PARQUET, "events.parquet");
    List<Map<String, FieldType>> types = types();
    List<Map<String, String>> all = new ArrayList<>();
    try (var duck = DuckDb.open(); var statement = duck.createStatement(); var rows = statement.executeQuery(
        "SELECT ts_ns, type, host, program, pid, thread, fields, epoch_ns(ts) = ts_ns FROM read_parquet("
            + Sql.literal(exports.file("events.parquet").toString()) + ")")) {
      while (rows.next()) {
        List<String> cells = new ArrayList<>();
        for (int i = 1; i <= 7; i++) {
          cells.add(rows.getString(i));
        }
        assertThat(rows.getBoolean(8)).isTrue();
        all.add(row(List.of("ts_ns", "type", "host", "program", "pid", "thread", "fields"), cells,
            types.get(all.size())));
      }
    }
    assertThat(all).containsExactlyElementsOf(archived());
  }

  @Test
  void aSelectionIsOfTypesProgramsHostsTimesAndACondition() throws Exception {
    EventType read = EventType.named("disk.read").field("id", FieldType.U64).build();
    EventType send = EventType.named("net_send").field("id", FieldType.U64).build();
    for (int rareRows : new int[] {0, 10_000}) {
      exports = new Exports(directory.resolve("rare" + rareRows));
      exports.archive(List.of(
          Archives.batch(new Incarnation(1, 1), 1).host("a_b").program("50%").event(read, 10, 1).event(send, 20, 2)
              .toByteArray(),
          Archives.batch(new Incarnation(1, 2), 1).host("axb").program("500").event(read, 30, 3).event(send, 40, 4)
              .toByteArray()), rareRows);
      long first = 1_790_000_000_000_000_000L;
      assertThat(ids(new EventSelection(List.of(), null, null, null, null, null))).isEqualTo("1234");
      assertThat(ids(new EventSelection(List.of(Glob.of("disk*")), null, null, null, null, null))).isEqualTo("13");
      assertThat(ids(new EventSelection(List.of(Glob.of("x"), Glob.of("net_*")), null, null, null, null, null)))
          .isEqualTo("24");
      assertThat(ids(new EventSelection(List.of(Glob.of("nothing")), null, null, null, null, null))).isEmpty();
      assertThat(ids(new EventSelection(List.of(), "50%", null, null, null, null))).isEqualTo("12");
      assertThat(ids(new EventSelection(List.of(), "50*", "a_*", null, null, null))).isEqualTo("12");
      assertThat(ids(new EventSelection(List.of(), null, "*b", first + 20, first + 40, null))).isEqualTo("23");
      assertThat(ids(new EventSelection(List.of(), null, null, null, null, "id = '4' -- the last"))).isEqualTo("4");
      assertThat(ids(new EventSelection(List.of(), null, null, null, null, "(fields->>'id')::INT < 3")))
          .isEqualTo("12");
      assertThatThrownBy(() -> ids(new EventSelection(List.of(), null, null, null, null, "true)\0 AND (false")))
          .hasMessageContaining("the query has a NUL at position 6");
    }
  }

  /** 320 MB of text are sorted in less memory than that. */
  @Tag("system")
  @Test
  void moreThanTheMemoryIsSorted() throws Exception {
    exports = new Exports(directory.resolve("large"));
    String text = "x".repeat(4_000);
    List<byte[]> large = new ArrayList<>();
    for (int sequence = 1; sequence <= 500; sequence++) {
      BatchWriter batch = Archives.batch(new Incarnation(1, 1), sequence);
      for (int i = 0; i < 160; i++) {
        batch.event(LARGE, -1_000L * sequence + i, sequence + " " + i + text, 1f);
      }
      large.add(batch.toByteArray());
    }
    exports.archive(large, 0);
    assertThat(Hostile.peakMemory(() -> {
      Counts counts = exports.write(ExportFormat.PARQUET, "large.parquet");
      assertThat(counts.get("events")).isEqualTo(80_000);
    })).isLessThan(2 * Hostile.MAX_MEMORY);
    try (var duck = DuckDb.open(); var statement = duck.createStatement(); var row = statement.executeQuery(
        "SELECT count(*), bool_and(ts_ns > before) FROM (SELECT ts_ns, lag(ts_ns) OVER (ORDER BY file_row_number)"
            + " AS before FROM read_parquet(" + Sql.literal(exports.file("large.parquet").toString())
            + ", file_row_number = true))")) {
      row.next();
      assertThat(row.getLong(1)).isEqualTo(80_000);
      assertThat(row.getBoolean(2)).isTrue();
    }
  }

  private String ids(EventSelection selection) throws Exception {
    StringBuilder ids = new StringBuilder();
    try (EventReader reader = exports.reader(); EventCursor events = reader.read(selection)) {
      for (ArchivedEvent event = events.next(); event != null; event = events.next()) {
        ids.append(event.id());
      }
    }
    return ids.toString();
  }
}
