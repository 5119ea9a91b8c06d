package io.lifeline.jobs.core;

import static io.lifeline.jobs.core.Deduplicator.Result.CONFLICT;
import static io.lifeline.jobs.core.Deduplicator.Result.DUPLICATE;
import static io.lifeline.jobs.core.Deduplicator.Result.NEW;
import static io.lifeline.jobs.core.Deduplicator.Result.UNKNOWN;
import static io.lifeline.jobs.core.TestBatches.route;
import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.cases.Cases;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DeduplicatorTest {

  private static final long DAY_MS = 86_400_000;

  /** Each arrival encodes one of three routes, one of fifty sequences, and whether the process crashes after it. */
  @Test
  void acceptsEachSequenceOnceAcrossCrashes() {
    Cases.each(1000, any -> {
      MemoryState state = new MemoryState();
      Deduplicator deduplicator = new Deduplicator(state, DAY_MS);
      Set<Integer> accepted = new HashSet<>();
      for (int arrival : any.list(0, 200, () -> any.between(0, 299))) {
        int sequence = arrival % 50 + 1;
        int number = arrival / 50 % 3;
        boolean crash = arrival >= 150;
        Deduplicator.Result verdict = deduplicator.check(route(number), sequence, 7 * sequence, 1000);
        assertThat(verdict).isEqualTo(accepted.add(arrival % 150) ? NEW : DUPLICATE);
        if (crash) {
          deduplicator.save();
          state = reopened(state);
          deduplicator = new Deduplicator(state, DAY_MS);
        }
      }
    });
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

  /** In any order, with gaps that are filled late and sequences near the unsigned maximum. */
  @Test
  void everySequenceKeepsItsChecksum() {
    Cases.each(300, any -> {
      MemoryState state = new MemoryState();
      Deduplicator deduplicator = new Deduplicator(state, DAY_MS);
      Map<Long, Integer> first = new HashMap<>();
      for (int arrival : any.list(0, 300, () -> any.between(0, 999))) {
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
    });
  }

  @Test
  void theChecksumsThatAnEarlierProgramKeptAreKnown() {
    MemoryState state = new MemoryState();
    SequenceSet seen = new SequenceSet();
    seen.addRun(1, 70);
    StateWriter route = new StateWriter().version(1).varint(5);
    seen.encode(route);
    route.varint(3).varint(0).fixed32(70).varint(10).fixed32(60).varint(1).fixed32(69);
    state.put("dedup/" + route(1), route.toBytes());
    Deduplicator deduplicator = new Deduplicator(state, DAY_MS);
    for (int sequence : new int[] {60, 69, 70}) {
      assertThat(deduplicator.check(route(1), sequence, sequence, 5)).isEqualTo(DUPLICATE);
      assertThat(deduplicator.check(route(1), sequence, 1, 5)).isEqualTo(CONFLICT);
    }
    assertThat(deduplicator.check(route(1), 3, 1, 5)).as("it kept none of this one").isEqualTo(UNKNOWN);
    assertThat(deduplicator.check(route(1), 71, 1, 5)).isEqualTo(NEW);
    assertThat(deduplicator.check(route(1), 71, 2, 5)).isEqualTo(CONFLICT);
  }

  @Test
  void manyGapsSilenceNobodyAndTheShortestRunsAreForgotten() {
    Metrics.Counter forgotten = new Metrics.Counter();
    Deduplicator deduplicator = new Deduplicator(new MemoryState(), DAY_MS, forgotten);
    long sequence = 1;
    for (; sequence <= 1000; sequence++) {
      deduplicator.check(route(1), sequence, (int) sequence, 0);
    }
    for (sequence++; sequence <= 1000 + 2L * Deduplicator.MAX_RUNS + 100; sequence += 2) {
      assertThat(deduplicator.check(route(1), sequence, (int) sequence, 0)).isEqualTo(NEW);
    }
    assertThat(forgotten.value()).isPositive();
    for (long end = sequence + 1000; sequence < end; sequence++) {
      assertThat(deduplicator.check(route(1), sequence, (int) sequence, 0)).isEqualTo(NEW);
    }
    assertThat(deduplicator.check(route(1), 1001, 2, 0)).as("late for one of the oldest gaps").isEqualTo(NEW);
    assertThat(deduplicator.check(route(1), 500, 500, 0)).as("of the longest run").isEqualTo(DUPLICATE);
    assertThat(deduplicator.check(route(1), sequence - 1, 0, 0)).as("of the newest").isEqualTo(CONFLICT);
  }

  /** A client that publishes with another emitter's incarnation can take only the sequences that it uses. */
  @ParameterizedTest
  @CsvSource({"2, 1, false", "2, 1, true", "1000000, 1, false", "1000000, 2, true", "3, 2, true"})
  void forgedSequencesAheadOfAnEmitterDoNotSilenceIt(long step, int neighbours, boolean restarted) {
    MemoryState state = new MemoryState();
    Deduplicator deduplicator = new Deduplicator(state, DAY_MS);
    SequenceSet forged = new SequenceSet();
    for (long sequence = 1; sequence <= 10; sequence++) {
      deduplicator.check(route(1), sequence, 1, 0);
    }
    for (int i = 0; i < Deduplicator.MAX_RUNS + 500; i++) {
      for (int neighbour = 0; neighbour < neighbours; neighbour++) {
        long sequence = 12 + step * i + neighbour;
        deduplicator.check(route(1), sequence, 666, 0);
        forged.add(sequence);
      }
    }
    if (restarted) {
      deduplicator.save();
      deduplicator = new Deduplicator(reopened(state), DAY_MS);
    }
    for (long sequence = 11; sequence <= 30_000; sequence++) {
      Deduplicator.Result verdict = deduplicator.check(route(1), sequence, 1, 0);
      assertThat(verdict).as("%d", sequence).isIn(forged.contains(sequence) ? List.of(CONFLICT, NEW) : List.of(NEW));
    }
  }

  @Test
  void whatAnArchiveKnowsOfAForgedRouteSilencesNobodyAfterARestart() {
    Deduplicator deduplicator = new Deduplicator(new MemoryState(), DAY_MS);
    deduplicator.seen(route(1), 1, 10, 0);
    for (int i = 0; i < Deduplicator.MAX_RUNS + 500; i++) {
      deduplicator.seen(route(1), 1_000_000L * (i + 1), 1_000_000L * (i + 1) + 1, 0);
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

  /** A route may live for years; here, each hour has 64 batches and takes one value. */
  @Test
  void theChecksumsOfALiveRouteAreDroppedWhenTheyAreOlderThanTheRetention() {
    MemoryState state = new MemoryState();
    Deduplicator deduplicator = new Deduplicator(state, DAY_MS);
    long hourMs = DAY_MS / 24;
    int most = 0;
    for (int hour = 0; hour < 30 * 24; hour++) {
      for (int sequence = 64 * hour + 1; sequence <= 64 * hour + 64; sequence++) {
        assertThat(deduplicator.check(route(1), sequence, sequence, hour * hourMs)).isEqualTo(NEW);
      }
      deduplicator.expire(hour * hourMs);
      if (hour % 100 == 0) {
        deduplicator.save();
        state = reopened(state);
        deduplicator = new Deduplicator(state, DAY_MS);
      }
      int[] values = new int[1];
      state.scan(Deduplicator.CHECKSUMS, (key, value) -> values[0]++);
      most = Math.max(most, values[0]);
    }
    assertThat(most).as("a day, a quarter of one, and one more").isBetween(24, 32);
    int last = 64 * 30 * 24;
    assertThat(deduplicator.check(route(1), last - 64 * 23, 0, 30 * DAY_MS)).as("a day ago").isEqualTo(CONFLICT);
    assertThat(deduplicator.check(route(1), 1, 1, 30 * DAY_MS)).as("a month ago").isEqualTo(UNKNOWN);
  }

  @Test
  void ofTwoValuesOfAChunkEachKeepsWhatItKnows() {
    Checksums first = new Checksums(0);
    Checksums second = new Checksums(0);
    first.put(1, 11);
    first.put(2, 22);
    second.put(2, 23);
    second.put(63, 66);
    Checksums merged = Checksums.of(Checksums.merge(first.toBytes(), second.toBytes()));
    assertThat(merged.matches(1, 11)).isTrue();
    assertThat(merged.matches(2, 22)).isTrue();
    assertThat(merged.matches(63, 66)).isTrue();
    assertThat(merged.knows(3)).isFalse();
  }

  @Test
  void aRouteThatIsCompleteLeavesMemoryAndIsKnown() {
    MemoryState state = new MemoryState();
    Deduplicator deduplicator = new Deduplicator(state, DAY_MS);
    deduplicator.check(route(1), 1, 11, 1000);
    deduplicator.check(route(1), 3, 33, 1000);
    deduplicator.ends(route(1), 3);
    deduplicator.save();
    assertThat(keys(state, "dedup/")).as("one is missing").isEqualTo(1);
    deduplicator.check(route(1), 2, 22, 1000);
    deduplicator.save();
    assertThat(keys(state, "dedup/")).isZero();
    for (Deduplicator each : List.of(deduplicator, new Deduplicator(reopened(state), DAY_MS))) {
      for (int sequence = 1; sequence <= 3; sequence++) {
        assertThat(each.check(route(1), sequence, 11 * sequence, 1000)).isEqualTo(DUPLICATE);
        assertThat(each.check(route(1), sequence, 1, 1000)).isEqualTo(CONFLICT);
      }
      assertThat(each.check(route(1), 4, 44, 1000)).as("after its last").isEqualTo(NEW);
      assertThat(each.check(route(1), 4, 44, 1000)).isEqualTo(DUPLICATE);
    }
  }

  @Test
  void aRouteThatIsIdleLeavesMemoryUntilItIsHeardAgain() {
    MemoryState state = new MemoryState();
    Deduplicator deduplicator = new Deduplicator(state, DAY_MS);
    deduplicator.check(route(1), 2, 22, 1000);
    deduplicator.save();
    deduplicator.expire(1001 + RetiredRoutes.IDLE_MS);
    deduplicator.save();
    assertThat(keys(state, "dedup/")).isZero();
    assertThat(deduplicator.check(route(1), 2, 22, 1001 + RetiredRoutes.IDLE_MS)).isEqualTo(DUPLICATE);
    assertThat(deduplicator.check(route(1), 1, 11, 1001 + RetiredRoutes.IDLE_MS)).isEqualTo(NEW);
    deduplicator.save();
    assertThat(keys(state, "dedup/")).isEqualTo(1);
    assertThat(deduplicator.check(route(1), 2, 22, 1001 + RetiredRoutes.IDLE_MS)).isEqualTo(DUPLICATE);
  }

  @Test
  void aRepeatedBatchBringsARouteBackIntoMemoryAndNotIntoTheState() {
    MemoryState state = new MemoryState();
    Deduplicator deduplicator = new Deduplicator(state, DAY_MS);
    deduplicator.check(route(1), 1, 11, 1000);
    deduplicator.ends(route(1), 1);
    deduplicator.save();
    assertThat(deduplicator.check(route(1), 1, 11, 1000)).isEqualTo(DUPLICATE);
    state.clear();
    assertThat(deduplicator.check(route(1), 1, 1, 1000)).as("in memory").isEqualTo(CONFLICT);
    deduplicator.expire(2000);
    deduplicator.save();
    assertThat(keys(state, "")).isZero();
    assertThat(deduplicator.check(route(1), 1, 11, 2000)).as("not in memory any more").isEqualTo(NEW);
  }

  /** As after an upgrade: a save that moved all of them would hold the task up. */
  @Test
  void manyIdleRoutesLeaveMemoryAThousandAtATime() {
    MemoryState state = new MemoryState();
    Deduplicator deduplicator = new Deduplicator(state, DAY_MS);
    for (int number = 0; number < 2500; number++) {
      deduplicator.check(route(number), 1, 11, 1000);
    }
    deduplicator.save();
    deduplicator.expire(1001 + RetiredRoutes.IDLE_MS);
    deduplicator.save();
    assertThat(keys(state, "dedup/")).isEqualTo(1500);
    assertThat(keys(state, RetiredRoutes.PREFIX)).isEqualTo(1000);
    RouteKey[] waiting = new RouteKey[1];
    state.scan("dedup/", (key, value) -> waiting[0] = RouteKey.parse(key.substring("dedup/".length())));
    assertThat(deduplicator.check(waiting[0], 2, 22, 1001 + RetiredRoutes.IDLE_MS)).isEqualTo(NEW);
    for (int left : new int[] {500, 1, 1}) {
      deduplicator.save();
      assertThat(keys(state, "dedup/")).as("that was heard again stays").isEqualTo(left);
    }
    Deduplicator after = new Deduplicator(reopened(state), DAY_MS);
    for (int number = 0; number < 2500; number++) {
      assertThat(after.check(route(number), 1, 11, 1001 + RetiredRoutes.IDLE_MS)).isEqualTo(DUPLICATE);
    }
  }

  @Test
  void nothingOfARetiredRouteIsLeftAfterTheRetention() {
    MemoryState state = new MemoryState();
    Deduplicator deduplicator = new Deduplicator(state, DAY_MS);
    for (int sequence = 1; sequence <= 1000; sequence++) {
      deduplicator.check(route(1), sequence, sequence, 1000);
    }
    deduplicator.ends(route(1), 1000);
    deduplicator.save();
    assertThat(deduplicator.check(route(1), 1, 1, 1001 + DAY_MS)).as("as if it were in memory").isEqualTo(NEW);
    deduplicator = new Deduplicator(state, DAY_MS);
    deduplicator.expire(1001 + 2 * DAY_MS);
    assertThat(keys(state, "")).isZero();
  }

  /** Whatever ends, idles and comes late: the answers are those of a program that keeps everything in memory. */
  @Test
  void retirementChangesNoAnswer() {
    Cases.each(500, any -> {
      MemoryState state = new MemoryState();
      Deduplicator retiring = new Deduplicator(state, DAY_MS);
      Deduplicator keeping = new Deduplicator(new MemoryState(), DAY_MS);
      long nowMs = 1000;
      for (int arrival : any.list(0, 200, () -> any.between(0, 2999))) {
        RouteKey route = route(arrival % 5);
        int sequence = arrival / 5 % 20 + 1;
        Deduplicator.Result verdict = retiring.check(route, sequence, arrival % 7, nowMs);
        assertThat(verdict).isEqualTo(keeping.check(route, sequence, arrival % 7, nowMs));
        if (verdict == NEW && arrival / 100 % 3 == 0) {
          retiring.ends(route, sequence);
        }
        nowMs += arrival % 11 == 0 ? RetiredRoutes.IDLE_MS / 2 : 0;
        if (arrival % 13 == 0) {
          retiring.expire(nowMs);
        }
        if (arrival % 3 == 0) {
          retiring.save();
        }
        if (arrival % 12 == 0) {
          state = reopened(state);
          retiring = new Deduplicator(state, DAY_MS);
        }
        if (nowMs > DAY_MS / 2) {
          break;
        }
      }
    });
  }

  /** Programs come and go for 30 days: what is left of each in memory is its identity and its last sequence. */
  @Test
  void aRouteThatIsSettledTakesAFewBytesAndIsKnown() {
    int programs = 10_000;
    Deduplicator deduplicator = new Deduplicator(new MemoryState(), DAY_MS);
    for (int program = 0; program < programs; program++) {
      for (int sequence = 1; sequence <= 3; sequence++) {
        assertThat(deduplicator.check(route(program), sequence, program, 1000 + program)).isEqualTo(NEW);
      }
      deduplicator.ends(route(program), 3);
      if (program % 100 == 0) {
        deduplicator.settle();
      }
    }
    deduplicator.settle();
    assertThat(deduplicator.inMemory()).isZero();
    assertThat(deduplicator.settledBytes() / programs).isLessThanOrEqualTo(3 * 32);
    for (int program = 0; program < programs; program++) {
      assertThat(deduplicator.look(route(program), 3, program)).isEqualTo(UNKNOWN);
      assertThat(deduplicator.look(route(program), 4, program)).isEqualTo(NEW);
    }
    assertThat(deduplicator.check(route(7), 2, 7, 2000)).as("the archive compares it").isEqualTo(UNKNOWN);
    assertThat(deduplicator.check(route(7), 4, 7, 2000)).isEqualTo(NEW);
    assertThat(deduplicator.check(route(7), 4, 7, 2000)).isEqualTo(DUPLICATE);
    deduplicator.expire(2 * DAY_MS);
    deduplicator.settle();
    assertThat(deduplicator.inMemory()).isZero();
    assertThat(deduplicator.look(route(1), 3, 1)).as("silent for longer than the retention").isEqualTo(NEW);
  }

  /** The checksums of settled routes are the archive's to compare; all else is as if everything were in memory. */
  @Test
  void settlingChangesNoAnswerButThatChecksumsAreUnknown() {
    Cases.each(500, any -> {
      Deduplicator settling = new Deduplicator(new MemoryState(), DAY_MS);
      Deduplicator keeping = new Deduplicator(new MemoryState(), DAY_MS);
      long nowMs = 1000;
      for (int arrival : any.list(0, 200, () -> any.between(0, 2999))) {
        RouteKey route = route(arrival % 5);
        int sequence = arrival / 5 % 20 + 1;
        Deduplicator.Result verdict = settling.check(route, sequence, arrival % 7, nowMs);
        Deduplicator.Result expected = keeping.check(route, sequence, arrival % 7, nowMs);
        assertThat(verdict).isIn(expected, expected == NEW ? NEW : UNKNOWN);
        if (verdict == NEW && arrival / 100 % 3 == 0) {
          settling.ends(route, sequence);
        }
        nowMs += arrival % 11 == 0 ? RetiredRoutes.IDLE_MS / 2 : 0;
        if (arrival % 13 == 0) {
          settling.expire(nowMs);
          keeping.expire(nowMs);
        }
        if (arrival % 3 == 0) {
          settling.settle();
        }
      }
    });
  }

  private static int keys(MemoryState state, String prefix) {
    int[] keys = new int[1];
    state.scan(prefix, (key, value) -> keys[0]++);
    return keys[0];
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
