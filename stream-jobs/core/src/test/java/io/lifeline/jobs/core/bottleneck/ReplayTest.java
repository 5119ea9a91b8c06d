package io.lifeline.jobs.core.bottleneck;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Replays the real transfers of {@code results/bottleneck}: of each component and phase the share of time at work that
 * the newest alert has, spread over the seconds by the bytes of each. Each stream was a process of its own, with one
 * thread for each component.
 *
 * <p>This is weak evidence that the rule is right: the samples are made from means that an earlier rule published, so
 * that they vary less than the real ones, and transfers without an alert are missing. It shows that a change of the
 * rule loses no known answer. Pipelines that run against the real job: {@code scripts/validate-bottleneck --pipelines}.
 */
class ReplayTest {

  private static final File DATA = new File("../../results/bottleneck/data.json");
  private static final long SECOND_NS = 1_000_000_000;
  private static final BottleneckSettings SETTINGS =
      new BottleneckSettings(Map.of(), "all", SECOND_NS, 2 * SECOND_NS, 60 * SECOND_NS, 1);

  private final Map<String, List<String>> answers = new TreeMap<>();

  @Test
  void noRealTransferGetsAWrongAnswerAndFewGetNone() throws Exception {
    JsonNode cells = new ObjectMapper().readTree(DATA).path("cells");
    assertThat(cells.size()).isGreaterThanOrEqualTo(64);
    cells.forEach(this::replay);
    assertThat(answers.getOrDefault("wrong", List.of())).isEmpty();
    assertThat(answers.getOrDefault("none", List.of())).hasSizeLessThanOrEqualTo(answers.get("right").size() / 10);
  }

  @Test
  void enoughWorkSeparatesLimitsFromWhatWaitsForThem() throws Exception {
    List<Double> limits = new ArrayList<>();
    List<Double> others = new ArrayList<>();
    new ObjectMapper().readTree(DATA).path("cells").forEach(cell -> cell.path("phases").forEach(phase -> {
      List<String> truth = truth(phase);
      measured(phase).forEach((component, row) -> {
        if (!truth.isEmpty()) {
          (truth.contains(component) ? limits : others).add(row.path("busy").asDouble());
        }
      });
    }));
    assertThat(others).hasSizeGreaterThan(150).allMatch(use -> use < Rule.ENOUGH_WORK);
    assertThat(limits).hasSizeGreaterThan(90);
    assertThat(limits.stream().filter(use -> use < Rule.ENOUGH_WORK)).as("measured in part")
        .hasSizeLessThanOrEqualTo(3);
  }

  /** On a busy machine a process gets no processor for a while: neither of its components works then. */
  @Test
  void aCopyThatStandsStillNowAndThenKeepsItsAnswer() {
    Map<String, String> components = Map.of("net.receive", "network", "disk.write", "disk-write");
    BottleneckSettings settings =
        new BottleneckSettings(components, "all", SECOND_NS, 2 * SECOND_NS, 60 * SECOND_NS, 1);
    for (int copy = 0; copy < 300; copy++) {
      Random random = new Random(copy);
      Replay replay = new Replay(settings);
      long ns = (long) (random.nextDouble() * SECOND_NS);
      for (int block = 0; block < 128; block++) {
        boolean standsStill = random.nextInt(43) == 0;
        ns += standsStill ? (long) (-Math.log(1 - random.nextDouble()) * SECOND_NS / 2) : 0;
        replay.pair("receiver", 1, "net.receive", ns, ns + 62_000_000, 250_000);
        replay.pair("receiver", 2, "disk.write", ns + 62_000_000, ns + 62_100_000, 250_000);
        ns += 62_000_000;
      }
      assertThat(replay.answer().component()).as("copy %d", copy).isEqualTo("network");
    }
  }

  private static List<String> truth(JsonNode phase) {
    List<String> truth = new ArrayList<>();
    phase.path("truth").forEach(name -> truth.add(name.asText()));
    return truth;
  }

  private void replay(JsonNode cell) {
    Group group = new Group("g", SETTINGS);
    List<Alert> alerts = new ArrayList<>();
    long changedS = cell.path("changed").asLong() / SECOND_NS;
    boolean isFirst = true;
    for (JsonNode phase : cell.path("phases")) {
      TreeMap<Long, List<Sample>> bySecond = new TreeMap<>();
      Map<String, JsonNode> measured = measured(phase);
      boolean isWhole = changedS == 0;
      for (String component : measured.keySet()) {
        List<JsonNode> rows = new ArrayList<>();
        for (JsonNode row : cell.path("series").path(component)) {
          if (isWhole || isFirst == row.path("second").asLong() < changedS) {
            rows.add(row);
          }
        }
        double mean = rows.stream().mapToDouble(row -> row.path("bytes").asDouble(1)).average().orElse(1);
        for (JsonNode row : rows) {
          long second = row.path("second").asLong() + 1;
          bySecond.computeIfAbsent(second, key -> new ArrayList<>())
              .add(sample(measured.get(component), second, row.path("bytes").asDouble(1) / mean));
        }
      }
      bySecond.forEach((second, samples) -> samples.forEach(
          sample -> group.add(sample, second * 1000, alerts::add)));
      if (!measured.isEmpty()) {
        note(cell, phase, alerts);
      }
      isFirst = false;
    }
  }

  /** Returns the components of the phase's newest alert. */
  private static Map<String, JsonNode> measured(JsonNode phase) {
    Map<String, JsonNode> measured = new TreeMap<>();
    phase.path("alerts").forEach(alert -> alert.path("components").forEach(
        component -> measured.put(component.path("component").asText(), component)));
    return measured;
  }

  private static Sample sample(JsonNode component, long endS, double share) {
    double bytes = component.path("bytes_per_second").asDouble() * share;
    double busyNs = component.path("busy").asDouble() * share * SECOND_NS;
    double deviation = component.path("unevenness").asDouble() * busyNs / 50;
    return new Sample("g", component.path("component").asText(), "stream", endS * SECOND_NS, SECOND_NS, 50, bytes,
        busyNs, deviation * deviation, 1);
  }

  private void note(JsonNode cell, JsonNode phase, List<Alert> alerts) {
    List<String> truth = truth(phase);
    if (truth.isEmpty()) {
      return; // not known
    }
    Alert last = alerts.isEmpty() ? null : alerts.get(alerts.size() - 1);
    String answer = last != null && last.isOn() ? last.component() : "none";
    String kind = truth.contains(answer) ? "right" : answer.equals("none") ? "none" : "wrong";
    answers.computeIfAbsent(kind, key -> new ArrayList<>()).add(cell.path("name").asText() + ": " + answer);
  }
}
