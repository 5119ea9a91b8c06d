package io.lifeline.jobs.archive.export;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What pScheduler's schemas (version 1 of throughput and of rtt) say about a record, as far as exports use them. */
final class PerfsonarSchema {
  private static final String DURATION =
      "P(\\d+(\\.\\d+)?W)?(\\d+(\\.\\d+)?D)?(T(\\d+(\\.\\d+)?H)?(\\d+(\\.\\d+)?M)?(\\d+(\\.\\d+)?S)?)?";
  private static final String HOST = "[A-Za-z0-9_][A-Za-z0-9-]{0,62}(\\.[A-Za-z0-9][A-Za-z0-9-]{0,62})*\\.?";
  private static final String ADDRESS = "[0-9a-fA-F.:]+";
  private static final String UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";
  private static final String TIME = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d+Z";

  private PerfsonarSchema() {}

  static void check(JsonNode record) {
    keys(record, Set.of(), "id", "schedule", "test", "tool", "run", "task", "participants", "result", "reference");
    assertThat(record.path("id").asText()).matches(UUID);
    assertThat(record.path("schedule").path("start").asText()).matches(TIME);
    assertThat(record.path("schedule").path("duration").asText()).matches(DURATION);
    JsonNode spec = record.path("test").path("spec");
    assertThat(spec.path("source").asText()).matches(HOST + "|" + ADDRESS);
    assertThat(spec.path("dest").asText()).matches(HOST + "|" + ADDRESS);
    assertThat(record.path("participants")).isNotEmpty();
    JsonNode result = record.path("result");
    assertThat(result.path("succeeded").isBoolean() && result.path("diags").isTextual()).isTrue();
    switch (record.path("test").path("type").asText()) {
      case "throughput" -> {
        keys(spec, Set.of("duration"), "schema", "source", "dest");
        keys(result, Set.of("error", "mss"), "schema", "succeeded", "diags", "intervals", "summary");
        result.path("intervals").forEach(PerfsonarSchema::streams);
        streams(result.path("summary"));
      }
      case "rtt" -> {
        keys(spec, Set.of(), "schema", "source", "dest", "count");
        keys(result, Set.of(), "schema", "succeeded", "diags", "roundtrips", "loss", "min", "max", "mean", "stddev");
        for (String field : List.of("min", "max", "mean", "stddev")) {
          assertThat(result.path(field).asText()).matches(DURATION);
        }
        for (JsonNode trip : result.path("roundtrips")) {
          keys(trip, Set.of(), "seq", "rtt");
          assertThat(trip.path("seq").asInt()).isPositive();
          assertThat(trip.path("rtt").asText()).matches(DURATION);
        }
      }
      default -> throw new AssertionError(record.path("test").toString());
    }
  }

  private static void streams(JsonNode interval) {
    keys(interval, Set.of(), "streams", "summary");
    interval.path("streams").forEach(PerfsonarSchema::data);
    data(interval.path("summary"));
  }

  private static void data(JsonNode data) {
    keys(data, Set.of("stream-id", "retransmits", "rtt", "tcp-window-size"), "start", "end", "throughput-bits",
        "throughput-bytes");
    for (String number : List.of("start", "end", "throughput-bits", "throughput-bytes")) {
      assertThat(data.path(number).isNumber()).as(number).isTrue();
      assertThat(data.path(number).asDouble()).isFinite();
    }
    for (String integer : List.of("retransmits", "tcp-window-size")) {
      assertThat(!data.has(integer) || data.path(integer).isIntegralNumber()).as(integer).isTrue();
    }
  }

  private static void keys(JsonNode object, Set<String> optional, String... required) {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    assertThat(names).contains(required);
    names.removeAll(List.of(required));
    assertThat(optional).containsAll(names);
  }
}
