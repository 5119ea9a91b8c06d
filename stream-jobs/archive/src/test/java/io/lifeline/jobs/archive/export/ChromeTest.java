package io.lifeline.jobs.archive.export;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads traces as a viewer of Chrome's trace events does. */
class ChromeTest {
  private static final ObjectMapper MAPPER =
      new ObjectMapper().enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

  @TempDir Path directory;

  private final List<String> flows = new ArrayList<>();
  private final Map<String, String> names = new HashMap<>();

  private List<String> read(String text) throws Exception {
    TraceLines lines = new TraceLines();
    JsonNode trace = MAPPER.readTree(text);
    for (JsonNode event : trace.get("traceEvents")) {
      String phase = event.get("ph").asText();
      String process = "pid " + event.get("pid").asInt();
      String thread = process + " tid " + event.path("tid").asInt();
      String path = names.get(process) + "/" + names.get(thread);
      if (phase.equals("M")) {
        String of = event.get("name").asText().equals("process_name") ? process : thread;
        assertThat(names.put(of, event.get("args").get("name").asText())).as("a number has one name").isNull();
        continue;
      }
      long time = new BigDecimal(event.get("ts").asText()).movePointRight(3).longValueExact();
      switch (phase) {
        case "B" -> lines.begin(thread, path, event.get("name").asText(), time, arguments(event));
        case "E" -> lines.end(thread, time, arguments(event));
        case "i" -> lines.instant(path, event.get("name").asText(), time, arguments(event));
        case "C" -> lines.counter(names.get(process) + "/" + event.get("name").asText(), time,
            event.get("args").get("value").asText());
        default -> flows.add(phase + time);
      }
    }
    return lines.finish();
  }

  private static String arguments(JsonNode event) {
    StringBuilder text = new StringBuilder();
    event.path("args").properties().forEach(argument ->
        text.append(' ').append(argument.getKey()).append('=').append(argument.getValue().asText()));
    return text.toString();
  }

  @Test
  void everyEventHasItsPlaceAndLifelinesCrossProcesses() throws Exception {
    Exports exports = new Exports(directory);
    exports.archive(Scenario.batches(), 10_000);
    String text = exports.text(ExportFormat.CHROME);
    assertThat(read(text)).containsExactlyInAnyOrderElementsOf(Scenario.TRACE.stream()
        .map(line -> line.replace("1.8446744073709552E19", "18446744073709551615").replace(" 500 1.0", " 500 1"))
        .toList());
    assertThat(flows).containsExactly("s0", "s50", "t105", "t155", "s620");
    assertThat(MAPPER.readTree(text).get("otherData").get("first_event_ns").asText()).isEqualTo("1790000000000000100");
  }

  @Test
  void hostileEventsAreAllThere() throws Exception {
    Exports exports = new Exports(directory);
    List<byte[]> batches = Exports.hostile();
    exports.archive(batches, 10_000);
    String text = exports.text(ExportFormat.CHROME);
    assertThat(text).doesNotContainPattern(
        "[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]");
    assertThat(read(text).stream().filter(line -> line.startsWith("instant"))).hasSize(Events.of(batches).size());
  }
}
