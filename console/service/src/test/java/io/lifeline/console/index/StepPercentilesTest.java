package io.lifeline.console.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class StepPercentilesTest {
  private static final int MS = 1_000_000;

  /** Objects one after the other, a millisecond apart: "slow" takes i + 1 ns, "quick" always 1 ns. */
  private static TraceIndex index(int objects) {
    TraceIndex index = new TraceIndex(3 * objects);
    index.add(() -> {
      int origin = index.origin(new Origin("a", "copy", "host", 1));
      for (int i = 0; i < objects; i++) {
        String id = Integer.toString(i);
        long start = (long) i * MS;
        index.event(start, index.kind("begin", "info"), id, origin);
        index.event(start + i + 1, index.kind("slow", "info"), id, origin);
        index.event(start + i + 2, index.kind("quick", "info"), id, origin);
      }
    });
    return index;
  }

  @Test
  void shouldSayPercentilesByPartTheMostTimeFirst() {
    StepPercentiles.Found found = StepPercentiles.of(index(100), new Span(0, 100L * MS - 1), 24, 10);
    assertThat(found.oneIn()).isEqualTo(1);
    assertThat(found.rows()).hasSize(2);
    List<Durations> slow = found.rows().get(0).durations();
    assertThat(slow).hasSize(10);
    for (int part = 0; part < 10; part++) {
      assertThat(slow.get(part).sorted()).hasSize(10);
      assertThat(slow.get(part).quantile(0.5)).isEqualTo(part * 10 + 5);
      assertThat(slow.get(part).quantile(0.99)).isEqualTo(part * 10 + 10);
      assertThat(found.rows().get(1).durations().get(part).quantile(0.99)).isEqualTo(1);
    }
    assertThat(StepPercentiles.of(index(100), new Span(0, 100L * MS), 1, 10).rows()).hasSize(1);
  }

  @Test
  void shouldLookAtAShareOfVeryManyEvents() {
    int objects = StepPercentiles.MOST_EVENTS / 2;
    StepPercentiles.Found found = StepPercentiles.of(index(objects), new Span(0, (long) objects * MS), 24, 4);
    assertThat(found.oneIn()).isEqualTo(2);
    StepPercentiles.Row slow = found.rows().get(0);
    assertThat(slow.kind().count()).isEqualTo(objects);
    assertThat(slow.kind().maxNs()).isEqualTo(objects);
    assertThat(slow.durations().stream().mapToInt(one -> one.sorted().length).sum())
        .isBetween(objects * 2 / 5, objects * 3 / 5);
    assertThat(slow.durations().get(3).quantile(0.5)).isBetween((long) (objects * 0.86), (long) (objects * 0.89));
  }
}
