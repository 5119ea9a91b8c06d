package io.lifeline.jobs.core.bottleneck;

import static io.lifeline.jobs.core.bottleneck.Pools.alternating;
import static io.lifeline.jobs.core.bottleneck.Pools.stage;
import static io.lifeline.jobs.core.bottleneck.Pools.stalling;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.lifeline.jobs.core.bottleneck.Pools.Service;
import io.lifeline.jobs.core.bottleneck.Pools.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Pipelines of thread pools whose limit follows from their service times: what the job publishes of each. */
class KnownLimitsTest {

  private static final int SECONDS = 40;

  private static final BottleneckSettings SETTINGS =
      new BottleneckSettings(Map.of(), "all", 1_000_000_000L, 2_000_000_000L, 60_000_000_000L, 1);

  /** @param limit component that is published at the end; null for none */
  private record Known(String name, String limit, Supplier<Pools> pools) {}

  private static Known known(String name, String limit, int queue, Supplier<Stage[]> stages) {
    return new Known(name, limit, () -> new Pools(queue, stages.get()));
  }

  private static Stage[] stages(Stage... stages) {
    return stages;
  }

  private static final List<Known> ODD = List.of(
      known("1 reader of 200/s, 4 writers of 333/s", "a", 8, () -> stages(stage(1, 5), stage(4, 12))),
      known("8 readers of 400/s, 1 writer of 250/s", "b", 8, () -> stages(stage(8, 20), stage(1, 4))),
      known("4 readers of 250/s, 4 writers of 400/s", "a", 8, () -> stages(stage(4, 16), stage(4, 10))),
      known("4 hash threads, one of which gets 85 %", null, 8,
          () -> stages(stage(1, 1), stage(4, 4).skewed(0.85), stage(4, 8))),
      known("4 hash threads, one of which gets 85 %, behind a slower reader", "a", 8,
          () -> stages(stage(1, 5), stage(4, 4).skewed(0.85), stage(4, 8))),
      known("a lock lets one of four work", "b", 8, () -> stages(stage(1, 2), stage(4, 5).locked(), stage(4, 6))),
      known("rare stalls of the faster writer", null, 8,
          () -> stages(stage(1, 5), stage(1, stalling(3, 6000, 1500)))),
      known("stalls of the slower writer", "b", 8, () -> stages(stage(1, 2), stage(1, stalling(4, 3000, 200)))),
      known("an fdatasync after each block", "c", 1,
          () -> stages(stage(1, 0.1).closedLoop(), stage(1, 0.2), stage(1, 6))),
      known("a thread that reads and writes in turn", null, 1, () -> stages(stage(1, 3).closedLoop(), stage(1, 3))),
      known("three equal stages", null, 8, () -> stages(stage(1, 4), stage(1, 4), stage(1, 4))),
      known("equal stages of other numbers of threads", null, 8, () -> stages(stage(1, 4), stage(4, 16))),
      known("a tenth slower", null, 8, () -> stages(stage(1, 4.4), stage(1, 4))),
      known("a source that comes in bursts", null, 8,
          () -> stages(stage(1, 1).bursts(50, 400), stage(1, 2), stage(1, 3))),
      known("a limit that is not measured", null, 8, () -> stages(stage(1, 3), stage(1, 8).unmeasured(), stage(1, 3))),
      known("a limit that is not measured, and a pool of four that is half at work", null, 8,
          () -> stages(stage(1, 5).unmeasured(), stage(4, 11), stage(1, 1))),
      known("a writer that gets fast after 15 s", "a", 8,
          () -> stages(stage(1, 4), stage(1, (Service) now -> now < 15_000 ? 10 : 2))),
      known("a reader that gets slow after 15 s", "a", 8,
          () -> stages(stage(1, (Service) now -> now < 15_000 ? 2 : 9), stage(4, 16))),
      known("a writer of an old emitter, at work all the time", null, 8,
          () -> stages(stage(1, 2), stage(1, 5).old())),
      known("four writers of an old emitter, half at work", null, 8,
          () -> stages(stage(1, 5), stage(4, 12).old())),
      known("an old emitter that has hardly any work", "a", 8, () -> stages(stage(1, 5), stage(1, 1).old())),
      known("old emitters only", null, 8, () -> stages(stage(1, 5).old(), stage(4, 12).old())));

  /** Pools of all sizes, of which one can carry the least: 100 blocks a second, the others 160 and 240. */
  private static Stream<Known> pools() {
    List<Known> all = new ArrayList<>();
    int[][] sizes = {{1, 4, 1}, {4, 1, 4}, {8, 1, 2}, {1, 8, 16}, {2, 3, 1}, {16, 2, 5}, {1, 1, 1}, {4, 4, 4}};
    int[] queues = {1, 4, 64};
    for (int i = 0; i < sizes.length; i++) {
      for (int limit = 0; limit < 3; limit++) {
        int[] threads = sizes[i];
        double[] rates = {limit == 0 ? 100 : 160, limit == 1 ? 100 : 240, limit == 2 ? 100 : 160};
        int queue = queues[(i + limit) % queues.length];
        all.add(known(
            "pools of %d, %d and %d, queues of %d".formatted(threads[0], threads[1], threads[2], queue),
            List.of("a", "b", "c").get(limit), queue,
            () -> stages(
                stage(threads[0], threads[0] * 1000 / rates[0]),
                stage(threads[1], threads[1] * 1000 / rates[1]),
                stage(threads[2], threads[2] * 1000 / rates[2]))));
      }
    }
    return all.stream();
  }

  @TestFactory
  Stream<DynamicTest> theLimitIsPublishedAndNoOther() {
    return Stream.concat(ODD.stream(), pools()).map(known -> dynamicTest(known.name() + ": " + known.limit(), () -> {
      List<Alert> alerts = publish(known.pools().get(), SECONDS);
      Alert last = alerts.isEmpty() ? null : alerts.get(alerts.size() - 1);
      assertThat(last == null || !last.isOn() ? null : last.component()).as(alerts.toString()).isEqualTo(known.limit());
      assertThat(alerts).filteredOn(Alert::isOn)
          .allSatisfy(alert -> assertThat(alert.because().chance()).isLessThanOrEqualTo(0.01));
    }));
  }

  /** Halfway through an interval: that one shows both, and then two whole ones show the new limit. */
  @Test
  void anAnswerFollowsALimitThatAlternatesWithinTwoIntervals() {
    double[] changesS = {20.5, 41, 61.5, 82};
    Pools pools = new Pools(8, stage(1, alternating(8, 3, 20_500)), stage(4, alternating(12, 32, 20_500)));
    List<Alert> on = publish(pools, 100).stream().filter(Alert::isOn).toList();
    assertThat(on).extracting(Alert::component).containsExactly("a", "b", "a", "b", "a");
    for (int i = 0; i < changesS.length; i++) {
      assertThat(on.get(i + 1).atNs() / 1e9).as("the end of the second whole interval after change %d", i)
          .isEqualTo(Math.ceil(changesS[i]) + 2);
      assertThat(on.get(i + 1).sinceNs() / 1e9 - changesS[i]).as("when it began").isBetween(-0.5, 1.0);
    }
  }

  private static List<Alert> publish(Pools pools, int seconds) {
    List<Alert> alerts = new ArrayList<>();
    Group group = new Group("g", SETTINGS);
    for (int second = 1; second <= seconds + Operations.PATIENCE; second++) {
      for (Sample sample : pools.runTo(second)) {
        group.add(sample, second * 1000L, alerts::add);
      }
    }
    return alerts;
  }
}
