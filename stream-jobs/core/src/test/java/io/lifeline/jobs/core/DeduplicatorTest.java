package io.lifeline.jobs.core;

import static io.lifeline.jobs.core.Deduplicator.Verdict.CONFLICT;
import static io.lifeline.jobs.core.Deduplicator.Verdict.DUPLICATE;
import static io.lifeline.jobs.core.Deduplicator.Verdict.NEW;
import static io.lifeline.jobs.core.Deduplicator.Verdict.TOO_MANY_GAPS;
import static io.lifeline.jobs.core.TestBatches.route;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class DeduplicatorTest {

  private static final long DAY_MS = 86_400_000;

  /** Each arrival stands for one of three routes, one of fifty sequences, and whether the process dies after it. */
  @Property(seed = "1")
  void acceptsEachSequenceOnceAcrossCrashes(@ForAll @Size(max = 200) List<@IntRange(max = 299) Integer> arrivals) {
    MemoryState state = new MemoryState();
    Deduplicator deduplicator = new Deduplicator(state, DAY_MS);
    Map<Integer, Integer> accepted = new HashMap<>();
    for (int arrival : arrivals) {
      int sequence = arrival % 50 + 1;
      int number = arrival / 50 % 3;
      boolean crash = arrival >= 150;
      boolean first = accepted.merge(arrival % 150, 1, Integer::sum) == 1;
      Deduplicator.Verdict verdict = deduplicator.check(route(number), sequence, 7 * sequence, 1000);
      assertThat(verdict).isEqualTo(first ? NEW : DUPLICATE);
      if (crash) {
        deduplicator.save();
        state = reopened(state);
        deduplicator = new Deduplicator(state, DAY_MS);
      }
    }
  }

  @Test
  void tellsARepeatFromAConflict() {
    Deduplicator deduplicator = new Deduplicator(new MemoryState(), DAY_MS);
    assertThat(deduplicator.check(route(1), 1, 0xAAAA, 0)).isEqualTo(NEW);
    assertThat(deduplicator.check(route(1), 1, 0xAAAA, 0)).isEqualTo(DUPLICATE);
    assertThat(deduplicator.check(route(1), 1, 0xBBBB, 0)).isEqualTo(CONFLICT);
    assertThat(deduplicator.check(route(2), 1, 0xBBBB, 0)).as("another emitter's").isEqualTo(NEW);
  }

  @Test
  void remembersTheChecksumsOfTheNewestSequencesAcrossARestart() {
    MemoryState state = new MemoryState();
    Deduplicator before = new Deduplicator(state, DAY_MS);
    for (int sequence = 1; sequence <= 200; sequence++) {
      before.check(route(1), sequence, sequence, 0);
    }
    before.save();
    Deduplicator after = new Deduplicator(reopened(state), DAY_MS);
    assertThat(after.check(route(1), 200, -1, 0)).isEqualTo(CONFLICT);
    assertThat(after.check(route(1), 137, -1, 0)).isEqualTo(CONFLICT);
    assertThat(after.check(route(1), 136, -1, 0)).as("older than the checksums reach").isEqualTo(DUPLICATE);
    assertThat(after.check(route(1), 201, 1, 0)).isEqualTo(NEW);
  }

  @Test
  void keepsItsMemoryBoundedWhenEveryOtherSequenceIsMissing() {
    Deduplicator deduplicator = new Deduplicator(new MemoryState(), DAY_MS);
    for (long sequence = 1; sequence < 2L * Deduplicator.MAX_RUNS; sequence += 2) {
      assertThat(deduplicator.check(route(1), sequence, 0, 0)).isEqualTo(NEW);
    }
    assertThat(deduplicator.check(route(1), 2L * Deduplicator.MAX_RUNS + 1, 0, 0)).isEqualTo(TOO_MANY_GAPS);
    assertThat(deduplicator.check(route(1), 2, 0, 0)).as("what fills a gap is still welcome").isEqualTo(NEW);
  }

  @Test
  void forgetsARouteWhenTheBrokerCanNoLongerRepeatIt() {
    MemoryState state = new MemoryState();
    Deduplicator deduplicator = new Deduplicator(state, DAY_MS);
    deduplicator.check(route(1), 1, 0, 1000);
    deduplicator.save();
    deduplicator.expire(1000 + DAY_MS);
    assertThat(new Deduplicator(state, DAY_MS).check(route(1), 1, 0, 1000)).isEqualTo(DUPLICATE);
    deduplicator.expire(1001 + 2 * DAY_MS);
    assertThat(new Deduplicator(state, DAY_MS).check(route(1), 1, 0, 1000)).isEqualTo(NEW);
  }

  @Test
  void takesWhatAnArchiveKnowsForSeen() {
    Deduplicator deduplicator = new Deduplicator(new MemoryState(), DAY_MS);
    deduplicator.seen(route(1), 1, 10, 0);
    assertThat(deduplicator.check(route(1), 10, 0, 0)).isEqualTo(DUPLICATE);
    assertThat(deduplicator.check(route(1), 11, 0, 0)).isEqualTo(NEW);
  }

  private static MemoryState reopened(MemoryState state) {
    StateWriter out = new StateWriter();
    state.encode(out);
    return MemoryState.decode(new StateReader(out.toBytes()));
  }
}
