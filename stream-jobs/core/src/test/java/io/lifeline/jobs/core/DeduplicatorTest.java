package io.lifeline.jobs.core;

import static io.lifeline.jobs.core.Deduplicator.Verdict.CONFLICT;
import static io.lifeline.jobs.core.Deduplicator.Verdict.DUPLICATE;
import static io.lifeline.jobs.core.Deduplicator.Verdict.NEW;
import static io.lifeline.jobs.core.Deduplicator.Verdict.UNKNOWN;
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
  void tellsAConflictHoweverLateItComesAlsoAfterARestart() {
    MemoryState state = new MemoryState();
    Deduplicator before = new Deduplicator(state, DAY_MS);
    for (int sequence = 1; sequence <= 1000; sequence++) {
      before.check(route(1), sequence, sequence, 0);
    }
    before.save();
    Deduplicator after = new Deduplicator(reopened(state), DAY_MS);
    for (int sequence = 1000; sequence > 0; sequence--) {
      assertThat(after.check(route(1), sequence, -sequence, 0)).isEqualTo(CONFLICT);
      assertThat(after.check(route(1), sequence, sequence, 0)).isEqualTo(DUPLICATE);
    }
    assertThat(after.check(route(1), 1001, 1, 0)).isEqualTo(NEW);
  }

  /** In any order, with gaps that fill late and sequences at the very end of the numbers. */
  @Property(seed = "2")
  void everySequenceKeepsItsChecksum(@ForAll @Size(max = 300) List<@IntRange(max = 999) Integer> arrivals) {
    MemoryState state = new MemoryState();
    Deduplicator deduplicator = new Deduplicator(state, DAY_MS);
    Map<Long, Integer> first = new HashMap<>();
    for (int arrival : arrivals) {
      long sequence = arrival % 2 == 0 ? arrival + 1 : -(long) arrival;
      int crc = 31 * arrival;
      Integer known = first.putIfAbsent(sequence, crc);
      assertThat(deduplicator.check(route(1), sequence, crc, 0)).isEqualTo(known == null ? NEW : DUPLICATE);
      if (arrival % 7 == 0) {
        deduplicator.save();
        state = reopened(state);
        deduplicator = new Deduplicator(state, DAY_MS);
      }
    }
    Deduplicator last = deduplicator;
    first.forEach((sequence, crc) -> assertThat(last.check(route(1), sequence, crc + 1, 0)).isEqualTo(CONFLICT));
  }

  @Test
  void whatAnEarlierProgramKeptNoChecksumOfIsARepeat() {
    MemoryState state = new MemoryState();
    SequenceSet seen = new SequenceSet();
    seen.addRun(1, 10);
    StateWriter route = new StateWriter().version(1).varint(5);
    seen.encode(route);
    state.put("dedup/" + route(1), route.varint(1).varint(0).fixed32(77).toBytes());
    Deduplicator deduplicator = new Deduplicator(state, DAY_MS);
    assertThat(deduplicator.check(route(1), 3, 1, 5)).isEqualTo(DUPLICATE);
    assertThat(deduplicator.check(route(1), 11, 1, 5)).isEqualTo(NEW);
    assertThat(deduplicator.check(route(1), 11, 2, 5)).isEqualTo(CONFLICT);
  }

  @Test
  void manyGapsSilenceNobodyAndTheOldestAreGivenUp() {
    Metrics.Counter givenUp = new Metrics.Counter();
    MemoryState state = new MemoryState();
    Deduplicator deduplicator = new Deduplicator(state, DAY_MS, givenUp);
    long sequence = 1;
    for (; sequence <= 2L * Deduplicator.MAX_RUNS + 100; sequence += 2) {
      assertThat(deduplicator.check(route(1), sequence, (int) sequence, 0)).isEqualTo(NEW);
    }
    assertThat(givenUp.value()).isEqualTo(50);
    for (long end = sequence + 1000; sequence < end; sequence++) {
      assertThat(deduplicator.check(route(1), sequence, (int) sequence, 0)).isEqualTo(NEW);
    }
    assertThat(deduplicator.check(route(1), 2, 2, 0)).as("too late for one of the oldest gaps").isEqualTo(UNKNOWN);
    assertThat(deduplicator.check(route(1), 3, 3, 0)).as("a repeat beside it").isEqualTo(DUPLICATE);
    assertThat(deduplicator.check(route(1), 200, 200, 0)).as("what fills a gap is still welcome").isEqualTo(NEW);
  }

  @Test
  void forgedSequencesAheadOfAnEmitterDoNotSilenceIt() {
    Deduplicator deduplicator = new Deduplicator(new MemoryState(), DAY_MS);
    for (long sequence = 1; sequence <= 10; sequence++) {
      deduplicator.check(route(1), sequence, 1, 0);
    }
    for (int i = 0; i < Deduplicator.MAX_RUNS + 500; i++) {
      deduplicator.check(route(1), 1_000_000 + 2L * i, 666, 0);
    }
    for (long sequence = 11; sequence <= 1000; sequence++) {
      assertThat(deduplicator.check(route(1), sequence, 1, 0)).isEqualTo(NEW);
    }
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
  void forgetsTheChecksumsOfARouteWithIt() {
    MemoryState state = new MemoryState();
    Deduplicator deduplicator = new Deduplicator(state, DAY_MS);
    for (int sequence = 1; sequence <= 1000; sequence++) {
      deduplicator.check(route(1), sequence, sequence, 1000);
    }
    deduplicator.save();
    deduplicator.expire(1001 + 2 * DAY_MS);
    state.scan("", (key, value) -> assertThat(key).as("nothing is left").isNull());
  }

  @Test
  void takesWhatAnArchiveKnowsForSeen() {
    Deduplicator deduplicator = new Deduplicator(new MemoryState(), DAY_MS);
    deduplicator.seen(route(1), 1, 10, 0);
    assertThat(deduplicator.check(route(1), 10, 0, 0)).as("only the archive knows its bytes").isEqualTo(UNKNOWN);
    assertThat(deduplicator.check(route(1), 11, 0, 0)).isEqualTo(NEW);
    assertThat(deduplicator.check(route(1), 11, 1, 0)).isEqualTo(CONFLICT);
  }

  private static MemoryState reopened(MemoryState state) {
    StateWriter out = new StateWriter();
    state.encode(out);
    return MemoryState.decode(new StateReader(out.toBytes()));
  }
}
