package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.JsonWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** Measures how often the rules are right, on copies that {@link Tuning} did not use to choose the thresholds. */
final class Validation {

  private static final String NONE = "none";
  private static final long FIRST_SEED = 90_000_000;

  /**
   * Results of one scenario.
   *
   * @param ours how often each component was named
   * @param papers the same for {@link PapersRule}
   * @param settledS see {@link Scenario.Answers}
   */
  record Row(Scenario scenario, Map<String, Integer> ours, Map<String, Integer> papers, List<Integer> settledS) {

    double shareRight() {
      return (double) ours.getOrDefault(name(scenario.truth()), 0) / settledS.size();
    }

    void write(JsonWriter json) {
      List<Integer> settled = settledS.stream().sorted().toList();
      json.beginObject().field("scenario", scenario.name()).field("truth", name(scenario.truth()));
      json.field("runs", settled.size()).field("median_s_until_right", settled.get(settled.size() / 2));
      json.name("ours").beginObject();
      ours.forEach(json::field);
      json.endObject().name("papers").beginObject();
      papers.forEach(json::field);
      json.endObject().endObject();
    }
  }

  private Validation() {}

  static List<Row> run(int runs) {
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < Scenario.ALL.length; i++) {
      Row row = new Row(Scenario.ALL[i], new TreeMap<>(), new TreeMap<>(), new ArrayList<>());
      for (int run = 0; run < runs; run++) {
        Scenario.Answers answers = row.scenario.run(FIRST_SEED + 10_000L * i + run);
        row.ours.merge(name(answers.ours()), 1, Integer::sum);
        row.papers.merge(name(answers.papers()), 1, Integer::sum);
        row.settledS.add(answers.settledS());
      }
      rows.add(row);
    }
    return rows;
  }

  private static String name(String component) {
    return Objects.requireNonNullElse(component, NONE);
  }
}
