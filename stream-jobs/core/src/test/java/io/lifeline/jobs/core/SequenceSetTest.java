package io.lifeline.jobs.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.cases.Cases;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class SequenceSetTest {

  @Test
  void behavesLikeASetOfNumbers() {
    Cases.each(1000, any -> {
      SequenceSet set = new SequenceSet();
      TreeSet<Long> model = new TreeSet<>();
      for (long sequence : any.list(0, 80, () -> any.between(1, 60))) {
        assertThat(set.containsAny(sequence, sequence + 5)).isEqualTo(!model.subSet(sequence, sequence + 6).isEmpty());
        assertThat(set.add(sequence)).isEqualTo(model.add(sequence));
      }
      assertSame(set, model);
    });
  }

  @Test
  void joinsRunsThatOverlapOrTouch() {
    Cases.each(1000, any -> {
      int length = any.between(0, 12);
      SequenceSet set = new SequenceSet();
      TreeSet<Long> model = new TreeSet<>();
      for (long first : any.list(0, 20, () -> any.between(1, 90))) {
        set.addRun(first, first + length);
        LongStream.rangeClosed(first, first + length).forEach(model::add);
      }
      assertSame(set, model);
    });
  }

  @Test
  void comesBackFromItsBytes() {
    Cases.each(1000, any -> {
      SequenceSet set = new SequenceSet();
      any.list(0, 40, () -> any.between(1, Integer.MAX_VALUE)).forEach(set::add);
      StateWriter out = new StateWriter();
      set.encode(out);
      SequenceSet back = SequenceSet.decode(new StateReader(out.toBytes()));
      assertThat(back).hasToString(set.toString());
      assertThat(back.size()).isEqualTo(set.size());
    });
  }

  @Test
  void forgetsTheShortestRunsAndOfEquallyLongOnesTheFirst() {
    Cases.each(1000, any -> {
      SequenceSet set = new SequenceSet();
      any.list(0, 60, () -> any.between(1, 200)).forEach(set::add);
      int most = any.between(1, 20);
      int kept = any.between(1, 200);
      List<long[]> runs = new ArrayList<>();
      set.forEachRun((first, last) -> runs.add(new long[] {first, last}));
      boolean isKept = set.contains(kept);
      long size = set.size();
      while (runs.size() > most) {
        runs.stream().filter(run -> !(isKept && run[0] <= kept && kept <= run[1]))
            .min(Comparator.comparingLong(run -> run[1] - run[0])).ifPresent(runs::remove);
      }
      long forgotten = set.forgetShortest(most, isKept ? kept : 0);
      TreeSet<Long> model = new TreeSet<>();
      runs.forEach(run -> LongStream.rangeClosed(run[0], run[1]).forEach(model::add));
      assertSame(set, model);
      assertThat(forgotten).isEqualTo(size - model.size());
    });
  }

  @Test
  void takesFiveBytesForAMillionSequencesWithoutAGap() {
    SequenceSet set = new SequenceSet();
    set.addRun(1, 1_000_000);
    StateWriter out = new StateWriter();
    set.encode(out);
    assertThat(out.toBytes()).hasSize(5);
  }

  @Test
  void comparesSequencesUnsigned() {
    SequenceSet set = new SequenceSet();
    set.add(-1);
    set.add(1);
    assertThat(set.add(-1)).isFalse();
    assertThat(set).hasToString("{1, 18446744073709551615}");
  }

  @Test
  void refusesSequenceZeroAndRunsThatEndBeforeTheyStart() {
    assertThatThrownBy(() -> new SequenceSet().addRun(0, 5)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new SequenceSet().addRun(6, 5))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("not a run of sequences: 6 to 5");
  }

  private static void assertSame(SequenceSet set, TreeSet<Long> model) {
    assertThat(set.size()).isEqualTo(model.size());
    assertThat(set.last()).isEqualTo(model.isEmpty() ? 0 : model.last());
    TreeSet<Long> found = new TreeSet<>();
    long[] endOfRunBefore = {-1};
    set.forEachRun(
        (first, last) -> {
          assertThat(first).as("runs are in order and do not touch").isGreaterThan(endOfRunBefore[0] + 1);
          endOfRunBefore[0] = last;
          for (long sequence = first; sequence <= last; sequence++) {
            found.add(sequence);
          }
        });
    assertThat(found).isEqualTo(model);
  }
}
