package io.lifeline.console.web;

import io.lifeline.codec.Counter;
import io.lifeline.jobs.core.Glob;
import io.lifeline.jobs.core.directory.Answer;
import io.lifeline.jobs.core.directory.Directory;
import io.lifeline.jobs.core.directory.EmitterRow;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The directory: who emits at the broker. */
public final class EmitterOperations implements Operations {
  private static final long SILENT_MS = 60_000;
  /** A clock that is further ahead than this is wrong: a batch cannot arrive before it was sent. */
  private static final long AHEAD_MS = 5;
  private static final Parameter<Boolean> AHEAD =
      Parameter.truth("ahead", "only emitters whose clocks are ahead of the broker's");
  private static final Parameter<Integer> MOST = Parameter.integer("n", "how many", 1, 20_000, 500);

  private final Directory directory;

  /** @param directory null without a broker */
  public EmitterOperations(Directory directory) {
    this.directory = directory;
  }

  @Override
  public List<Operation> all() {
    return List.of(Operation.get("/emitters", "The emitters that the broker has heard, newest first", Emitters.class,
        this::emitters, Parameters.PROGRAM, Parameters.HOST, AHEAD, MOST));
  }

  /**
   * Counts are decimal text: emitters may claim any number.
   *
   * @param state {@code running}, {@code silent} for a minute, {@code ended}, or {@code recovered} after a crash
   * @param drops events that it dropped, by reason
   * @param clockMs the least time from its clock to the broker's: transport and difference of the clocks; negative if
   *     its clock is ahead; null if it is silent
   * @param clockAhead whether its clock is ahead, so that its events seem later than they are
   * @param clockErrorNs how exactly its ticks are converted to time
   * @param inForce activations that it follows, by id
   */
  record Emitter(String incarnation, String program, String host, long pid, String state, long firstMs, long lastMs,
      double eventsPerSecond, int types, String emitted, Map<String, String> drops, String sampledOut,
      String belowThreshold, String folded, String spooled, Long clockMs, boolean clockAhead,
      long clockErrorNs, boolean clockUncertain,
      Map<String, String> inForce) {}

  /**
   * The emitters.
   *
   * @param count all that match, of which the rows are the first
   * @param ahead those whose clocks are ahead, of all with such a program and host
   */
  record Emitters(int count, int ahead, double eventsPerSecond, List<Emitter> rows) {}

  private Emitters emitters(Call call) {
    if (directory == null) {
      throw new Problem(404, "this console has no broker, and an archive knows only what came: start it with --broker");
    }
    Glob program = Parameters.glob(call.get(Parameters.PROGRAM));
    Glob host = Parameters.glob(call.get(Parameters.HOST));
    long now = System.currentTimeMillis();
    List<EmitterRow> named = directory.rows().stream()
        .filter(row -> program.matches(row.program()) && host.matches(row.host())).toList();
    List<EmitterRow> ahead = named.stream().filter(EmitterOperations::isAhead).toList();
    List<EmitterRow> matching = call.get(AHEAD) ? ahead : named;
    return new Emitters(matching.size(), ahead.size(),
        matching.stream().mapToDouble(EmitterRow::eventsPerSecond).sum(),
        matching.stream().limit(call.get(MOST)).map(row -> emitter(row, now)).toList());
  }

  private static boolean isAhead(EmitterRow row) {
    return row.clockMs() != null && row.clockMs() < -AHEAD_MS;
  }

  private static Emitter emitter(EmitterRow row, long now) {
    Map<String, String> drops = new TreeMap<>();
    row.drops().forEach((reason, count) -> drops.put(reason, Long.toUnsignedString(count)));
    Map<String, String> inForce = new TreeMap<>();
    row.answers().forEach((id, answer) -> {
      if (answer.state() == Answer.State.IN_FORCE) {
        inForce.put(id, answer.line() == null ? "" : answer.line());
      }
    });
    return new Emitter(row.incarnation().toString(), row.program(), row.host(), row.pid(), state(row, now),
        row.firstMs(), row.lastMs(), row.eventsPerSecond(), row.types(), count(row, Counter.EMITTED), drops,
        count(row, Counter.SAMPLED_OUT), count(row, Counter.BELOW_THRESHOLD), count(row, Counter.FOLDED),
        count(row, Counter.SPOOLED), row.clockMs(), isAhead(row), row.clockErrorNs(), row.clockUncertain(), inForce);
  }

  private static String state(EmitterRow row, long now) {
    boolean silent = now - row.lastMs() > SILENT_MS;
    return row.recovered() ? "recovered" : row.ended() ? "ended" : silent ? "silent" : "running";
  }

  private static String count(EmitterRow row, Counter counter) {
    return Long.toUnsignedString(row.counters().get(counter));
  }
}
