package io.lifeline.jobs.core.directory;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Calibration;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.Glob;
import io.lifeline.jobs.core.SequenceSet;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What is known of one emitter. Used by one thread at a time. */
final class Emitter {
  private static final int MOST_ANSWERS = 256;
  private static final int MOST_TYPES = 10_000;
  private static final int MOST_RUNS = 1000;
  private static final int LONGEST_TEXT = 1024;
  /** About what an entry takes beside its text. */
  private static final int ENTRY_BYTES = 300;
  private static final int RUN_BYTES = 16;
  private static final String OWN = "lifeline.";
  private static final String ANSWER = "lifeline.activation.";
  private static final String SUMMARY = "lifeline.summary";
  private static final Counter[] COUNTERS = Counter.values();

  private final Incarnation incarnation;
  private final String program;
  private final String host;
  private final long pid;
  private final long firstMs;
  private final Map<Integer, Route> routes = new HashMap<>();
  private final Map<String, TypeCount> types = new HashMap<>();
  private final Map<String, Answer> answers = new LinkedHashMap<>();
  private final Window events = new Window();
  private final Window excluded = new Window();
  private long lastMs;
  private long eventCount;
  private long byteCount;
  private long bytesKept;
  private Clock clock;

  /** What came of a route, with the counters of its newest batch. */
  private static final class Route {
    private final SequenceSet received = new SequenceSet();
    private final long[] counters = new long[COUNTERS.length];
    private long sequence;
    private boolean ended;
    private boolean recovered;

    long excluded() {
      return counters[Counter.SAMPLED_OUT.ordinal()] + counters[Counter.BELOW_THRESHOLD.ordinal()];
    }
  }

  /** @param summaryField the one of a summarised type's fields whose values are counted: all have as many */
  private record TypeCount(Window window, String summaryField) {}

  /** @param minuteMs when this minute of the measurement began; the least of it and of the one before counts */
  private record Clock(long minuteMs, long leastMs, Long leastBeforeMs, long errorNs, boolean uncertain) {}

  Emitter(BatchReader batch, long brokerTimeMs) {
    incarnation = batch.incarnation();
    program = batch.program();
    host = batch.host();
    pid = batch.pid();
    firstMs = brokerTimeMs;
    lastMs = brokerTimeMs;
    bytesKept = ENTRY_BYTES + bytes(program) + bytes(host);
  }

  /**
   * Adds a batch unless it is a repeat, and leaves it positioned before its first event.
   *
   * @param atMs when it counts
   * @param brokerTimeMs with which its clock is compared
   */
  void add(BatchReader batch, long atMs, long brokerTimeMs, int bytes) {
    Route route = routes.get(batch.route());
    if (route == null) {
      route = new Route();
      routes.put(batch.route(), route);
      bytesKept += ENTRY_BYTES;
    }
    int runsBefore = route.received.runs();
    if (!route.received.add(batch.sequence())) {
      return;
    }
    if (route.received.runs() > MOST_RUNS) {
      route.received.forgetShortest(MOST_RUNS / 2, batch.sequence());
    }
    bytesKept += (long) RUN_BYTES * (route.received.runs() - runsBefore);
    lastMs = Math.max(lastMs, atMs);
    eventCount += batch.eventCount();
    byteCount += bytes;
    events.add(atMs, batch.eventCount());
    addCounters(route, batch, atMs);
    addClock(batch, brokerTimeMs);
    addEvents(batch, atMs);
  }

  private void addCounters(Route route, BatchReader batch, long brokerTimeMs) {
    boolean first = route.sequence == 0;
    if (Long.compareUnsigned(batch.sequence(), route.sequence) <= 0) {
      return;
    }
    long excludedBefore = route.excluded();
    for (Counter counter : COUNTERS) {
      route.counters[counter.ordinal()] = batch.counter(counter);
    }
    route.sequence = batch.sequence();
    route.ended = batch.isFinal();
    route.recovered = batch.isRecovered();
    if (!first || batch.sequence() == 1) {
      excluded.add(brokerTimeMs, Math.max(0, route.excluded() - excludedBefore));
    }
  }

  private void addClock(BatchReader batch, long brokerTimeMs) {
    List<Calibration> calibrations = batch.header().calibrations();
    Calibration newest = calibrations.get(calibrations.size() - 1);
    long passedMs = brokerTimeMs - (newest.monotonicNs() + newest.realtimeOffsetNs()) / 1_000_000;
    boolean known = clock != null && brokerTimeMs - clock.minuteMs < 2 * Window.LENGTH_MS;
    boolean sameMinute = known && brokerTimeMs - clock.minuteMs < Window.LENGTH_MS;
    clock = new Clock(sameMinute ? clock.minuteMs : brokerTimeMs,
        sameMinute ? Math.min(clock.leastMs, passedMs) : passedMs,
        sameMinute ? clock.leastBeforeMs : known ? (Long) clock.leastMs : null,
        newest.errorNs(), batch.isClockUncertain());
  }

  private void addEvents(BatchReader batch, long brokerTimeMs) {
    EventType type = null;
    long run = 0;
    while (batch.next()) {
      if (batch.type() != type) {
        count(type, run, brokerTimeMs);
        type = batch.type();
        run = 0;
      }
      run++;
      if (type.name().startsWith(ANSWER)) {
        addAnswer(batch);
      } else if (type.name().equals(SUMMARY)) {
        addSummary(batch, brokerTimeMs);
      }
    }
    count(type, run, brokerTimeMs);
    batch.rewind();
  }

  private void count(EventType type, long events, long brokerTimeMs) {
    if (type != null && !type.name().startsWith(OWN)) {
      TypeCount known = typeCount(type.name(), null);
      if (known != null) {
        known.window.add(brokerTimeMs, events);
      }
    }
  }

  private void addSummary(BatchReader batch, long brokerTimeMs) {
    EventType type = batch.type();
    int count = type.fieldIndex("count");
    String name = text(batch, "type", BatchReader.MAX_BATCH_BYTES);
    String field = text(batch, "field", BatchReader.MAX_BATCH_BYTES);
    if (name == null || field == null || count < 0 || type.fields().get(count).type() != FieldType.U64) {
      return;
    }
    TypeCount known = typeCount(name, field);
    if (known != null && field.equals(known.summaryField)) {
      known.window.add(brokerTimeMs, Math.max(0, batch.getLong(count)));
    }
  }

  private TypeCount typeCount(String name, String summaryField) {
    TypeCount known = types.get(name);
    if (known == null && types.size() >= MOST_TYPES) {
      return null;
    }
    if (known == null || known.summaryField == null && summaryField != null) {
      bytesKept += (known == null ? ENTRY_BYTES + bytes(name) : 0) + bytes(summaryField);
      known = new TypeCount(known == null ? new Window() : known.window, summaryField);
      types.put(name, known);
    }
    return known;
  }

  private void addAnswer(BatchReader batch) {
    String id = text(batch, "id", LONGEST_TEXT);
    if (id == null) {
      return;
    }
    String line = text(batch, "line", LONGEST_TEXT);
    Answer before = answers.remove(id);
    bytesKept -= bytes(id, before);
    Answer.State state = switch (batch.type().name().substring(ANSWER.length())) {
      case "start" -> Answer.State.IN_FORCE;
      case "end" -> Answer.State.ENDED;
      default -> Answer.State.REFUSED;
    };
    Answer answer = new Answer(state, batch.timeNs(), line != null || before == null ? line : before.line(),
        text(batch, "reason", LONGEST_TEXT));
    answers.put(id, answer);
    bytesKept += bytes(id, answer);
    if (answers.size() > MOST_ANSWERS) {
      String eldest = answers.keySet().iterator().next();
      bytesKept -= bytes(eldest, answers.remove(eldest));
    }
  }

  private static long bytes(String id, Answer answer) {
    return answer == null ? 0 : ENTRY_BYTES + bytes(id) + bytes(answer.line()) + bytes(answer.reason());
  }

  private static long bytes(String text) {
    return text == null ? 0 : 2L * text.length();
  }

  /** Returns the value of a field of the current event; null if there is none, or it is longer. */
  private static String text(BatchReader batch, String name, int mostBytes) {
    int field = batch.type().fieldIndex(name);
    return field < 0 || batch.type().fields().get(field).type() != FieldType.STRING
        || batch.valueLength(field) > mostBytes ? null : batch.getString(field);
  }

  Incarnation incarnation() {
    return incarnation;
  }

  /** Returns about how much memory it takes. */
  long bytesKept() {
    return bytesKept;
  }

  long lastMs() {
    return lastMs;
  }

  boolean ended() {
    return routes.values().stream().allMatch(route -> route.ended);
  }

  String program() {
    return program;
  }

  String host() {
    return host;
  }

  /** Adds the names of its types that match; returns whether there are any. */
  boolean addMatching(Glob pattern, Set<String> names) {
    boolean any = false;
    for (String type : types.keySet()) {
      if (pattern.matches(type)) {
        names.add(type);
        any = true;
      }
    }
    return any;
  }

  /** Returns the rate of its events that match, those included that an activation keeps back. */
  double perSecond(Glob pattern, long nowMs) {
    double seen = types.entrySet().stream().filter(type -> pattern.matches(type.getKey()))
        .mapToDouble(type -> type.getValue().window.perSecond(nowMs)).sum();
    return seen + excluded.perSecond(nowMs);
  }

  double bytesPerEvent() {
    return eventCount == 0 ? 0 : (double) byteCount / eventCount;
  }

  EmitterRow row(long nowMs) {
    Map<Counter, Long> counters = new EnumMap<>(Counter.class);
    for (Counter counter : COUNTERS) {
      counters.put(counter, routes.values().stream().mapToLong(route -> route.counters[counter.ordinal()]).sum());
    }
    boolean recent = nowMs - clock.minuteMs < 2 * Window.LENGTH_MS;
    long least = clock.leastBeforeMs == null ? clock.leastMs : Math.min(clock.leastMs, clock.leastBeforeMs);
    return new EmitterRow(incarnation, program, host, pid, firstMs, lastMs, ended(),
        routes.values().stream().anyMatch(route -> route.recovered), events.perSecond(nowMs), types.size(), counters,
        recent ? (Long) least : null, clock.errorNs, clock.uncertain,
        Collections.unmodifiableMap(new LinkedHashMap<>(answers)));
  }
}
