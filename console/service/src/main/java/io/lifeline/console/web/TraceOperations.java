package io.lifeline.console.web;

import static io.lifeline.console.web.Parameters.HOST;
import static io.lifeline.console.web.Parameters.PROGRAM;
import static io.lifeline.console.web.Parameters.SESSION;

import com.fasterxml.jackson.core.type.TypeReference;
import io.lifeline.console.archive.EventFields;
import io.lifeline.console.archive.Question;
import io.lifeline.console.index.Density;
import io.lifeline.console.index.Durations;
import io.lifeline.console.index.EventKind;
import io.lifeline.console.index.Lifelines;
import io.lifeline.console.index.Origin;
import io.lifeline.console.index.Passage;
import io.lifeline.console.index.Slowest;
import io.lifeline.console.index.Snapshot;
import io.lifeline.console.index.Span;
import io.lifeline.console.index.StageOrder;
import io.lifeline.console.index.Steps;
import io.lifeline.console.index.TraceIndex;
import io.lifeline.jobs.archive.TimeSpan;
import io.lifeline.jobs.core.Glob;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;

/** What is asked of the events in the index: lifelines, durations, what is slow. */
public final class TraceOperations implements Operations {
  static final Map<String, Question> QUESTIONS = Map.of("fields", (reader, asked) -> EventFields.of(reader,
      asked.path("id").asText(), new TimeSpan(asked.path("from").asLong(), asked.path("to").asLong())));
  private static final TypeReference<Map<String, Map<String, Object>>> FIELDS = new TypeReference<>() {};
  private static final int MOST_BINS = 400;
  private static final int PIXELS_PER_BIN = 4;
  /** Counts by type and bin: with very many types bins are wider, or an answer would be megabytes of zeros. */
  private static final int MOST_CELLS = 500_000;
  private static final int MOST_STEPS = 200;
  private static final List<String> OUTCOMES = List.of("ok", "error", "open");

  private static final Parameter<Long> FROM2 = Parameter.time("from2", "beginning of a span to compare").optional();
  private static final Parameter<Long> TO2 = Parameter.time("to2", "end of the span to compare").optional();
  private static final Parameter<Integer> LINES = Parameter.integer("lines", "about how many objects", 1, 20_000, 2000);
  private static final Parameter<Integer> A = Parameter.integer("a", "type at the beginning of the step; -1: the first",
      -1, Integer.MAX_VALUE, -1);
  private static final Parameter<Integer> B = Parameter.integer("b", "type at the end of the step; -1: the last",
      -1, Integer.MAX_VALUE, -1);
  private static final Parameter<Integer> MOST = Parameter.integer("n", "how many", 1, 1000, 20);
  private static final Parameter<Integer> OBJECT =
      Parameter.integer("object", "number of an object in this service", 0, Integer.MAX_VALUE, null).ofPath();
  private static final Parameter<String> ID = Parameter.text("id", "only the object with this id");

  private final TraceIndex index;
  private final ArchiveQuestions archive;
  private final SessionEmitters sessions;

  /**
   * @param archive for the values of an object's events and the emitters of a session
   */
  public TraceOperations(TraceIndex index, ArchiveQuestions archive) {
    this.index = index;
    this.archive = archive;
    this.sessions = new SessionEmitters(archive);
  }

  @Override
  public List<Operation> all() {
    return List.of(
        Operation.get("/types", "The event types of programs, and the order in which objects pass them", Types.class,
            this::types, PROGRAM, HOST, SESSION),
        Operation.get("/lifelines", "The lifelines of a span, reduced so that the slowest remain", Lines.class,
            this::lifelines, Parameters.FROM, Parameters.TO, Parameters.WIDTH, LINES, PROGRAM,
            HOST, SESSION, ID),
        Operation.get("/objects/{object}", "One object's events, with their fields", ObjectEvents.class, this::object,
            OBJECT),
        Operation.get("/steps", "Where the time of objects goes: the steps of a span by kind", StepKinds.class,
            this::steps, Parameters.FROM, Parameters.TO, PROGRAM, HOST, SESSION),
        Operation.get("/slowest", "The slowest objects of a span, and what they share", SlowObjects.class,
            this::slowest, Parameters.FROM, Parameters.TO, A, B, MOST, PROGRAM, HOST, SESSION),
        Operation.get("/distribution", "How long the step between two types takes", Distribution.class,
            this::distribution, Parameters.FROM, Parameters.TO, FROM2, TO2, A, B, PROGRAM, HOST,
            SESSION),
        Operation.get("/heat", "Durations over time", Heat.class, this::heat, Parameters.FROM,
            Parameters.TO, Parameters.WIDTH, A, B, PROGRAM, HOST, SESSION));
  }

  record TypeRow(int type, String name, String level, long events) {}

  /**
   * The types of all emitters, or those of which the selected ones have emitted events.
   *
   * @param fromNs time of the first of these events; null if there is none
   */
  record Types(List<TypeRow> types, List<Integer> order, String fromNs, String toNs) {}

  private Object types(Call call) {
    Choice chosen = choice(call);
    return index.read(snapshot -> {
      IntPredicate origin = chosen.in(snapshot);
      long[] counts = origin == null ? snapshot.eventsByKind() : snapshot.eventsByKind(origin);
      Span span = origin == null ? snapshot.span() : snapshot.span(origin);
      List<TypeRow> rows = new ArrayList<>();
      for (EventKind kind : snapshot.kinds()) {
        if (origin == null || counts[kind.number()] > 0) {
          rows.add(new TypeRow(kind.number(), kind.name(), kind.level(), counts[kind.number()]));
        }
      }
      List<Integer> order = new ArrayList<>(StageOrder.of(snapshot));
      order.removeIf(type -> origin != null && counts[type] == 0);
      return new Types(rows, order, span == null ? null : Long.toString(span.from()),
          span == null ? null : Long.toString(span.to()));
    });
  }

  /**
   * A polyline.
   *
   * @param o number of the object
   * @param p index of the program in which it begins
   * @param h index of the host on which it begins
   * @param s index of its outcome
   * @param d duration in nanoseconds
   * @param t times in nanoseconds since {@code base}
   * @param y types
   */
  record Line(int o, String id, int p, int h, int s, long d, long[] t, int[] y) {}

  record Row(int type, int[] n) {}

  record Lines(String base, long from, long to, long events, int objects, int shown, boolean reduced,
      List<String> programs, List<String> hosts, List<String> outcomes, List<Line> lines, List<Row> density,
      int bins) {}

  private Object lifelines(Call call) {
    Span span = Parameters.span(call);
    String id = call.get(ID);
    Choice chosen = choice(call);
    return index.read(snapshot -> {
      int bins = Math.max(1, Math.min(Math.min(MOST_BINS, call.get(Parameters.WIDTH) / PIXELS_PER_BIN),
          MOST_CELLS / Math.max(1, snapshot.kinds().size())));
      IntPredicate origin = chosen.in(snapshot);
      Lifelines.Choice choice = id == null
          ? Lifelines.choose(snapshot, span, origin, call.get(LINES))
          : new Lifelines.Choice(only(snapshot.find(id)), true);
      Names programs = new Names();
      Names hosts = new Names();
      List<Line> lines = new ArrayList<>();
      for (int object : choice.objects()) {
        lines.add(line(snapshot, object, span.from(), programs, hosts));
      }
      List<Row> density = new ArrayList<>();
      long[] events = {0};
      Density.of(snapshot, span, origin, bins).forEach((type, counts) -> {
        density.add(new Row(type, counts));
        events[0] += Arrays.stream(counts).asLongStream().sum();
      });
      return new Lines(Long.toString(span.from()), 0, span.to() - span.from(), events[0], snapshot.objectCount(),
          lines.size(), !choice.complete(), programs.list(), hosts.list(), OUTCOMES, lines, density, bins);
    });
  }

  private static int[] only(int object) {
    return object < 0 ? new int[0] : new int[] {object};
  }

  private static Line line(Snapshot snapshot, int object, long base, Names programs, Names hosts) {
    int[] path = snapshot.path(object);
    long[] times = new long[path.length];
    int[] types = new int[path.length];
    boolean failed = false;
    for (int i = 0; i < path.length; i++) {
      times[i] = snapshot.time(path[i]) - base;
      EventKind kind = snapshot.kind(path[i]);
      types[i] = kind.number();
      failed |= kind.failure();
    }
    Origin first = snapshot.origin(path[0]);
    boolean open = snapshot.kind(path[path.length - 1]).start();
    return new Line(object, snapshot.id(object), programs.of(first.program()), hosts.of(first.host()),
        failed ? 1 : open ? 2 : 0, times[times.length - 1] - times[0], times, types);
  }

  /**
   * An event with its fields.
   *
   * @param fields null as long as the archive does not have the event
   */
  record ObjectEvent(String t, int type, String name, String level, String program, String host, long pid,
      long sinceFirst, long sincePrevious, Map<String, Object> fields) {}

  record ObjectEvents(int o, String id, List<ObjectEvent> events) {}

  private Object object(Call call) throws Exception {
    int object = call.get(OBJECT);
    ObjectEvents known = index.read(snapshot -> {
      if (!snapshot.exists(object)) {
        throw new Problem(404, "there is no object " + object + ": its events have made room for newer ones, or the"
            + " console has been started again");
      }
      List<ObjectEvent> events = new ArrayList<>();
      int[] path = snapshot.path(object);
      for (int i = 0; i < path.length; i++) {
        EventKind kind = snapshot.kind(path[i]);
        Origin origin = snapshot.origin(path[i]);
        long time = snapshot.time(path[i]);
        events.add(new ObjectEvent(Long.toString(time), kind.number(), kind.name(), kind.level(), origin.program(),
            origin.host(), origin.pid(), time - snapshot.time(path[0]),
            i == 0 ? 0 : time - snapshot.time(path[i - 1]), null));
      }
      return new ObjectEvents(object, snapshot.id(object), events);
    });
    Map<String, Map<String, Object>> values = !archive.exists() ? Map.of()
        : archive.value(call, "fields", Map.of("id", known.id(), "from", known.events().get(0).t(), "to",
            known.events().get(known.events().size() - 1).t()), FIELDS);
    List<ObjectEvent> events = new ArrayList<>();
    for (ObjectEvent event : known.events()) {
      events.add(new ObjectEvent(event.t, event.type, event.name, event.level, event.program, event.host, event.pid,
          event.sinceFirst, event.sincePrevious, values.get(EventFields.key(event.name, event.t))));
    }
    return new ObjectEvents(known.o(), known.id(), events);
  }

  /**
   * @param waiting whether no stage is in between: the time is not that of any work
   * @param slowest the object with the slowest step of this kind
   */
  record StepKind(
      int a, int b, boolean waiting, long count, double totalNs, long maxNs, int slowest, String slowestId) {}

  record StepKinds(List<StepKind> steps) {}

  private Object steps(Call call) {
    Span span = Parameters.span(call);
    Choice chosen = choice(call);
    return index.read(snapshot -> new StepKinds(Steps.of(snapshot, span, chosen.in(snapshot)).stream()
        .limit(MOST_STEPS).map(kind -> new StepKind(kind.from(), kind.to(),
            snapshot.kinds().get(kind.from()).waitsFor(snapshot.kinds().get(kind.to())), kind.count(), kind.totalNs(),
            kind.maxNs(), snapshot.object(kind.slowest()), snapshot.id(snapshot.object(kind.slowest())))).toList()));
  }

  record SlowObject(int o, String id, String program, String host, String start, long ns) {}

  record SharedValue(String what, String value, double slow, double all) {}

  record SlowObjects(List<SlowObject> objects, int count, List<SharedValue> shares) {}

  private Object slowest(Call call) {
    Span span = Parameters.span(call);
    Passage passage = new Passage(call.get(A), call.get(B));
    Choice chosen = choice(call);
    return index.read(snapshot -> {
      Slowest slowest = Slowest.of(snapshot, span, chosen.in(snapshot), passage, call.get(MOST));
      List<SlowObject> objects = new ArrayList<>();
      for (Slowest.Found found : slowest.passages()) {
        Origin origin = snapshot.origin(found.event());
        int object = snapshot.object(found.event());
        objects.add(new SlowObject(object, snapshot.id(object), origin.program(), origin.host(),
            Long.toString(snapshot.time(found.event()) - found.durationNs()), found.durationNs()));
      }
      return new SlowObjects(objects, slowest.count(), slowest.shares().stream()
          .map(share -> new SharedValue(share.property(), share.value(), share.slow(), share.all())).toList());
    });
  }

  record SpanOfDurations(String from, String to, int count, long min, long p50, long p90, long p99, long max,
      double mean, int[] counts) {}

  record Distribution(int a, int b, List<SpanOfDurations> spans, long[] edges) {}

  private Object distribution(Call call) {
    List<Span> spans = new ArrayList<>(List.of(Parameters.span(call)));
    if (call.get(FROM2) != null || call.get(TO2) != null) {
      if (call.get(FROM2) == null || call.get(TO2) == null) {
        throw new Problem(400, "from2 and to2 belong together: give both or none");
      }
      spans.add(Parameters.span(call, FROM2, TO2));
    }
    Passage passage = new Passage(call.get(A), call.get(B));
    Choice chosen = choice(call);
    List<Durations> durations = index.read(snapshot -> spans.stream()
        .map(span -> Durations.of(snapshot, span, chosen.in(snapshot), passage)).toList());
    long least = durations.stream().mapToLong(one -> one.quantile(0)).min().orElse(0);
    long most = durations.stream().mapToLong(one -> one.quantile(1)).max().orElse(0);
    long[] edges = Durations.edges(least, most);
    List<SpanOfDurations> described = new ArrayList<>();
    for (int i = 0; i < spans.size(); i++) {
      Durations one = durations.get(i);
      described.add(new SpanOfDurations(Long.toString(spans.get(i).from()), Long.toString(spans.get(i).to()),
          one.sorted().length, one.quantile(0), one.quantile(0.5), one.quantile(0.9), one.quantile(0.99),
          one.quantile(1), one.mean(), one.counts(edges)));
    }
    return new Distribution(passage.fromKind(), passage.toKind(), described, edges);
  }

  record Heat(String base, long from, long to, int bins, long[] edges, int[][] counts) {}

  private Object heat(Call call) {
    Span span = Parameters.span(call);
    Passage passage = new Passage(call.get(A), call.get(B));
    int bins = Math.max(1, Math.min(MOST_BINS, call.get(Parameters.WIDTH) / PIXELS_PER_BIN));
    Choice chosen = choice(call);
    return index.read(snapshot -> {
      IntPredicate origin = chosen.in(snapshot);
      Durations durations = Durations.of(snapshot, span, origin, passage);
      long[] edges = Durations.edges(durations.quantile(0), durations.quantile(1));
      int[][] counts = new int[bins][edges.length - 1];
      passage.forEach(snapshot, span, origin, (event, duration) ->
          counts[span.part(snapshot.time(event), bins)][Durations.bin(edges, duration)]++);
      return new Heat(Long.toString(span.from()), 0, span.to() - span.from(), bins, edges, counts);
    });
  }

  /** What a call selects of the emitters. */
  private record Choice(Glob programs, Glob hosts, Set<String> incarnations) {

    /** Returns the emitters by their numbers; null for all. */
    IntPredicate in(Snapshot snapshot) {
      if (programs == null && hosts == null && incarnations == null) {
        return null;
      }
      BitSet selected = new BitSet();
      for (int i = 0; i < snapshot.origins().size(); i++) {
        Origin origin = snapshot.origins().get(i);
        selected.set(i, (programs == null || programs.matches(origin.program()))
            && (hosts == null || hosts.matches(origin.host()))
            && (incarnations == null || incarnations.contains(origin.incarnation())));
      }
      return selected::get;
    }
  }

  /** Asks the archive for a session before the index is read, which must not wait for it. */
  private Choice choice(Call call) {
    String session = call.get(SESSION);
    return new Choice(glob(call.get(PROGRAM)), glob(call.get(HOST)),
        session == null || session.isEmpty() ? null : sessions.of(call, session));
  }

  private static Glob glob(String text) {
    return text == null ? null : Parameters.glob(text);
  }

  /** Numbers texts in the order of their first use. */
  private static final class Names {
    private final Map<String, Integer> numbers = new LinkedHashMap<>();

    int of(String name) {
      return numbers.computeIfAbsent(name, any -> numbers.size());
    }

    List<String> list() {
      return List.copyOf(numbers.keySet());
    }
  }
}
