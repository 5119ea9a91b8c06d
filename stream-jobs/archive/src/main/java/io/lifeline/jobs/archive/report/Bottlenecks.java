package io.lifeline.jobs.archive.report;

import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.core.bottleneck.Answer;
import io.lifeline.jobs.core.bottleneck.BottleneckSettings;
import io.lifeline.jobs.core.bottleneck.Replay;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Finds the bottleneck of each group as the job {@code bottleneck} does: by the same rule, from pairs of events and
 * from calipers' reports.
 */
final class Bottlenecks {

  private static final String SUMMARY = "lifeline.summary";

  /** A run of fewer samples, of which the job would know nothing yet, is cut into more and shorter ones. */
  private static final int LEAST_SAMPLES = 10;

  private static final int SAMPLES_OF_A_SHORT_RUN = 20;
  private static final long SHORTEST_NS = 1_000_000;

  /** A part of a caliper's report. */
  private record Part(
      String incarnation, String operation, String field, long endNs, long intervalNs, long count, double sum,
      double variance, long threads) {}

  private static final class Group {
    final List<Part> parts = new ArrayList<>();
    final Map<String, List<Operation>> operations = new TreeMap<>();

    Stream<Operation> all() {
      return operations.values().stream().flatMap(List::stream);
    }
  }

  private final BottleneckSettings settings;
  private final Function<Operation.Origin, String> group;
  private final TreeMap<String, Group> groups = new TreeMap<>();

  private Bottlenecks(BottleneckSettings settings, String session) {
    this.settings = settings;
    this.group = origin ->
        session != null ? "session=" + session : settings.group(origin.session(), origin.program());
  }

  /**
   * Returns the answer of each group that has operations of a component, in the order of their names.
   *
   * @param where SQL condition on the events' origin
   * @param session to which all of them belong, those of sessions that began in it included; null for none
   */
  static List<Bottleneck> of(
      ArchiveReader archive, String where, String session, BottleneckSettings settings,
      Map<String, List<Operation>> operations) throws SQLException {
    Bottlenecks found = new Bottlenecks(settings, session);
    for (String operation : settings.components().keySet()) {
      for (Operation pair : operations.getOrDefault(operation, List.of())) {
        found.of(pair.origin()).operations.computeIfAbsent(operation, name -> new ArrayList<>()).add(pair);
      }
    }
    found.readReports(archive, where);
    List<Bottleneck> bottlenecks = new ArrayList<>();
    found.groups.forEach((name, group) -> bottlenecks.add(found.bottleneck(name, group)));
    return bottlenecks;
  }

  private Group of(Operation.Origin origin) {
    return groups.computeIfAbsent(group.apply(origin), name -> new Group());
  }

  private void readReports(ArchiveReader archive, String where) throws SQLException {
    for (String field : List.of("type", "field", "interval", "count", "sum", "variance")) {
      if (!archive.has(SUMMARY, field)) {
        return;
      }
    }
    String threads = archive.has(SUMMARY, "threads") ? archive.integer(SUMMARY, "threads") : "0";
    String names = String.join(", ", settings.components().keySet().stream().map(Sql::literal).toList());
    String sql = "SELECT s.*, b.session, b.program FROM (SELECT incarnation, route, sequence, event_index, "
        + archive.text(SUMMARY, "type") + " AS operation, " + archive.text(SUMMARY, "field") + " AS aspect, "
        + archive.timeNs() + " AS ns, " + archive.integer(SUMMARY, "interval") + " AS length, "
        + archive.integer(SUMMARY, "count") + " AS operations, " + archive.real(SUMMARY, "sum") + " AS total, "
        + archive.real(SUMMARY, "variance") + " AS spread, " + threads + " AS workers FROM "
        + Sql.identifier(archive.viewOf(SUMMARY)) + " WHERE " + where + ") s LEFT JOIN " + Report.ORIGINS + " b"
        + " ON b.incarnation = s.incarnation AND b.route = s.route AND b.sequence = s.sequence"
        + " WHERE operation IN (" + names + ") ORDER BY s.incarnation, s.sequence, s.event_index";
    try (PreparedStatement query = archive.prepare(sql); ResultSet row = query.executeQuery()) {
      while (row.next()) {
        String incarnation = row.getString("incarnation");
        of(new Operation.Origin(incarnation, null, row.getString("session"), row.getString("program"))).parts.add(
            new Part(incarnation, row.getString("operation"), row.getString("aspect"), row.getLong("ns"),
                row.getLong("length"), row.getLong("operations"), row.getDouble("total"), row.getDouble("spread"),
                row.getLong("workers")));
      }
    }
  }

  private Bottleneck bottleneck(String name, Group of) {
    Answer answer = answer(of, settings.intervalNs());
    long runNs = of.all().mapToLong(Operation::endNs).max().orElse(0)
        - of.all().mapToLong(Operation::startNs).min().orElse(0);
    if (!answer.isEarly() || of.operations.isEmpty() || runNs >= LEAST_SAMPLES * settings.intervalNs()) {
      return new Bottleneck(name, settings.intervalNs(), answer);
    }
    long shortNs = Math.max(SHORTEST_NS, runNs / SAMPLES_OF_A_SHORT_RUN);
    return new Bottleneck(name, shortNs, answer(of, shortNs));
  }

  private Answer answer(Group of, long intervalNs) {
    Replay replay = new Replay(settings.withInterval(intervalNs));
    of.parts.forEach(part -> replay.report(part.incarnation(), part.operation(), part.field(), part.endNs(),
        part.intervalNs(), part.count(), part.sum(), part.variance(), part.threads()));
    Map<String, Long> threads = new HashMap<>();
    of.operations.forEach((name, pairs) -> pairs.forEach(pair -> {
      long thread = threads.computeIfAbsent(pair.origin().actor(), actor -> (long) threads.size());
      replay.pair(pair.origin().incarnation(), thread, name, pair.startNs(), pair.endNs(), pair.moved());
    }));
    return replay.answer();
  }
}
