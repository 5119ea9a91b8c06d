package io.lifeline.console.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TraceIndexTest {
  private static final String[] WAY = {"read.start", "read.end", "send.start", "send.end", "write.end"};

  private record Step(long time, String type, String id) {}

  private static TraceIndex index(int limit, List<Step> steps) {
    TraceIndex index = new TraceIndex(limit);
    for (int first = 0; first < steps.size(); first += 700) {
      List<Step> piece = steps.subList(first, Math.min(steps.size(), first + 700));
      index.add(() -> {
        int origin = index.origin(new Origin("a", "copy", "host", 1));
        piece.forEach(step -> index.event(step.time, index.kind(step.type, "info"), step.id, origin));
      });
    }
    return index;
  }

  /** Objects that pass all stages, one after the other and overlapping, in the order of time. */
  private static List<Step> objects(Random random, int count) {
    List<Step> steps = new ArrayList<>();
    for (int object = 0; object < count; object++) {
      long time = object * 1000L + random.nextInt(500);
      for (String type : WAY) {
        steps.add(new Step(time, type, Integer.toString(object)));
        time += 1 + random.nextInt(2000);
      }
    }
    steps.sort(Comparator.comparingLong(Step::time));
    return steps;
  }

  @Test
  void shouldKeepThePathOfAnObjectInOrderOfTimeWhateverTheOrderOfArrival() {
    List<Step> steps = objects(new Random(1), 300);
    java.util.Collections.shuffle(steps, new Random(2));
    TraceIndex index = index(10_000, steps);
    index.read(snapshot -> {
      assertThat(snapshot.objectCount()).isEqualTo(300);
      for (int i = 0; i < 300; i++) {
        int[] path = snapshot.path(snapshot.find(Integer.toString(i)));
        assertThat(Arrays.stream(path).mapToObj(event -> snapshot.kind(event).name())).containsExactly(WAY);
      }
      return null;
    });
  }

  @Test
  void shouldBeginAnotherObjectWhenAnIdStartsAgain() {
    List<Step> steps = List.of(new Step(1, "a", "x"), new Step(2, "b", "x"), new Step(3, "b", "x"),
        new Step(10, "a", "x"), new Step(11, "b", "x"));
    index(1000, steps).read(snapshot -> {
      assertThat(snapshot.objectCount()).isEqualTo(2);
      assertThat(snapshot.path(snapshot.find("x"))).hasSize(2);
      assertThat(snapshot.path(snapshot.objects.former(snapshot.find("x")))).hasSize(3);
      return null;
    });
  }

  @Test
  void shouldChooseTheSlowestStepOfEachKindInEverySpan() {
    Random random = new Random(50);
    List<Step> steps = objects(random, 100_000);
    TraceIndex index = index(1_000_000, steps);
    Map<String, List<Step>> paths = new HashMap<>();
    steps.forEach(step -> paths.computeIfAbsent(step.id, id -> new ArrayList<>()).add(step));
    for (int round = 0; round < 20; round++) {
      long from = (long) (random.nextDouble() * 90_000_000);
      Span span = round == 0 ? new Span(0, 200_000_000) : new Span(from, from + random.nextInt(10_000_000));
      Map<String, Long> slowest = new HashMap<>();
      paths.values().forEach(path -> IntStream.range(1, path.size())
          .filter(i -> path.get(i).time >= span.from() && path.get(i).time <= span.to())
          .forEach(i -> slowest.merge(path.get(i).type, path.get(i).time - path.get(i - 1).time, Math::max)));
      index.read(snapshot -> {
        for (int most : new int[] {50, 400, 3000}) {
          assertThat(slowestShown(snapshot, span, most)).as("of %d", most).isEqualTo(slowest);
        }
        return null;
      });
    }
  }

  /** The longest step of each kind in the span, among the objects that are shown. */
  private static Map<String, Long> slowestShown(Snapshot snapshot, Span span, int most) {
    Map<String, Long> shown = new HashMap<>();
    for (int object : Lifelines.choose(snapshot, span, null, most).objects()) {
      int[] path = snapshot.path(object);
      for (int i = 1; i < path.length; i++) {
        if (snapshot.time(path[i]) >= span.from() && snapshot.time(path[i]) <= span.to()) {
          long duration = snapshot.time(path[i]) - snapshot.time(path[i - 1]);
          shown.merge(snapshot.kind(path[i]).name(), duration, Math::max);
        }
      }
    }
    return shown;
  }

  @Test
  void shouldCountEachEventOfASpanOnce() {
    Random random = new Random(5);
    List<Step> steps = objects(random, 30_000);
    TraceIndex index = index(1_000_000, steps);
    for (int round = 0; round < 50; round++) {
      long from = (long) (random.nextDouble() * 30_000_000);
      Span span = new Span(from, from + random.nextInt(30_000_000));
      long expected = steps.stream().filter(step -> step.time >= span.from() && step.time <= span.to()).count();
      long counted = index.read(snapshot -> Density.of(snapshot, span, null, 97).values().stream()
          .flatMapToInt(Arrays::stream).asLongStream().sum());
      assertThat(counted).isEqualTo(expected);
    }
  }

  @Test
  void shouldForgetTheOldestEventsAndTheirObjects() {
    List<Step> steps = objects(new Random(7), 100_000);
    TraceIndex index = index(100_000, steps);
    index.read(snapshot -> {
      long kept = Arrays.stream(snapshot.eventsByKind()).sum();
      assertThat(kept).isBetween(100_000L, 100_000L + 3L * EventColumns.CHUNK);
      assertThat(kept + index.forgotten()).isEqualTo(steps.size());
      assertThat(snapshot.objectCount()).isLessThan(60_000);
      assertThat(snapshot.find("5")).isEqualTo(-1);
      int[] path = snapshot.path(snapshot.find("99999"));
      assertThat(Arrays.stream(path).mapToObj(event -> snapshot.kind(event).name())).containsExactly(WAY);
      return null;
    });
  }

  @Test
  void shouldMeasureThePassageBetweenTwoStages() {
    List<Step> steps = objects(new Random(9), 1000);
    TraceIndex index = index(100_000, steps);
    index.read(snapshot -> {
      Passage sending = new Passage(kind(snapshot, "send.start"), kind(snapshot, "send.end"));
      Durations durations = Durations.of(snapshot, snapshot.span(), null, sending);
      assertThat(durations.sorted()).hasSize(1000);
      assertThat(durations.quantile(1)).isLessThanOrEqualTo(2000);
      long[] edges = Durations.edges(durations.sorted()[0], durations.quantile(1));
      assertThat(Arrays.stream(durations.counts(edges)).sum()).isEqualTo(1000);
      Slowest slowest = Slowest.of(snapshot, snapshot.span(), null, sending, 5);
      assertThat(slowest.passages().get(0).durationNs()).isEqualTo(durations.quantile(1));
      assertThat(slowest.count()).isEqualTo(1000);
      return null;
    });
  }

  @Test
  void shouldFindTheOrderInWhichObjectsPassTheStages() {
    List<Step> steps = objects(new Random(11), 1000);
    steps.add(0, new Step(0, "a.sample", null));
    index(100_000, steps).read(snapshot -> {
      assertThat(StageOrder.of(snapshot).intStream().mapToObj(kind -> snapshot.kinds().get(kind).name()))
          .containsExactly("read.start", "read.end", "send.start", "send.end", "write.end", "a.sample");
      return null;
    });
  }

  @Test
  void shouldOrderTypesThatOneObjectAlonePassesAsThatOneDoes() {
    List<Step> steps = objects(new Random(12), 1000);
    steps.add(new Step(-5, "all.start", "0"));
    steps.add(new Step(1_000_000_000, "all.end", "0"));
    index(100_000, steps).read(snapshot -> {
      assertThat(StageOrder.of(snapshot).intStream().mapToObj(kind -> snapshot.kinds().get(kind).name()))
          .containsExactly("all.start", "read.start", "read.end", "send.start", "send.end", "write.end", "all.end");
      return null;
    });
  }

  /** Adds objects with ids from 0 that pass these types of a program, one every so many nanoseconds. */
  private static void pass(TraceIndex index, String program, String prefix, int count, long startNs, long everyNs,
      String... types) {
    index.add(() -> {
      int origin = index.origin(new Origin(program, program, "host", 1));
      for (int i = 0; i < count; i++) {
        for (int step = 0; step < types.length; step++) {
          index.event(startNs + i * everyNs + step, index.kind(types[step], "info"), prefix + i, origin);
        }
      }
    });
  }

  private static List<String> order(TraceIndex index) {
    return index.read(snapshot ->
        StageOrder.of(snapshot).intStream().mapToObj(kind -> snapshot.kinds().get(kind).name()).toList());
  }

  @Test
  void shouldOrderTheTypesOfUnrelatedProgramsOneAfterTheOtherEvenIfTheirIdsAreTheSame() {
    for (String prefix : List.of("", "echo ")) {
      TraceIndex index = new TraceIndex(1_000_000);
      // One object of the shop's among very many of echo's.
      pass(index, "shop", "", prefix.isEmpty() ? 5000 : 1, 0, 1000, "request.start", "auth.start", "auth.end",
          "request.end");
      pass(index, "shop", "job ", 10, 0, 1000, "job.start", "job.end");
      pass(index, "echo", prefix, 50_000, 2_499_000, 10, "http.accept", "http.request", "http.response");
      assertThat(order(index)).as("ids of echo begin with '%s'", prefix).containsExactly("http.accept", "http.request",
          "http.response", "job.start", "job.end", "request.start", "auth.start", "auth.end", "request.end");
    }
  }

  @Test
  void shouldOrderTheTypesOfProgramsThatPassObjectsOnAsTheObjectsPassThem() {
    TraceIndex index = new TraceIndex(1_000_000);
    pass(index, "web", "", 1000, 0, 1000, "call.start");
    pass(index, "store", "", 1000, 10, 1000, "read.start", "read.end");
    pass(index, "web", "", 1000, 20, 1000, "call.end");
    assertThat(order(index)).containsExactly("call.start", "read.start", "read.end", "call.end");
  }

  @Test
  void shouldTellWaitingBetweenStagesFromWork() {
    EventKind mark = EventKind.of(0, "net.socket", "info");
    EventKind start = EventKind.of(1, "net.receive.start", "info");
    EventKind end = EventKind.of(2, "net.receive.end", "info");
    assertThat(mark.waitsFor(start)).isTrue();
    assertThat(end.waitsFor(start)).isTrue();
    assertThat(end.waitsFor(mark)).isTrue();
    assertThat(start.waitsFor(end)).isFalse();
    assertThat(start.waitsFor(start)).isFalse();
    assertThat(mark.waitsFor(end)).isFalse();
    assertThat(mark.waitsFor(mark)).isFalse();
    assertThat(end.waitsFor(end)).isFalse();
  }

  private static int kind(Snapshot snapshot, String name) {
    return snapshot.kinds().stream().filter(kind -> kind.name().equals(name)).findFirst().orElseThrow().number();
  }
}
