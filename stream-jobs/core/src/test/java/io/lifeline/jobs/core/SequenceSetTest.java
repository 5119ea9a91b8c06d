package io.lifeline.jobs.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class SequenceSetTest {

  @Property(seed = "1")
  void behavesLikeASetOfNumbers(@ForAll @Size(max = 80) List<@IntRange(min = 1, max = 60) Integer> sequences) {
    SequenceSet set = new SequenceSet();
    TreeSet<Long> model = new TreeSet<>();
    for (long sequence : sequences) {
      assertThat(set.containsAny(sequence, sequence + 5)).isEqualTo(!model.subSet(sequence, sequence + 6).isEmpty());
      assertThat(set.add(sequence)).isEqualTo(model.add(sequence));
    }
    assertSame(set, model);
  }

  @Property(seed = "1")
  void joinsRunsThatOverlapOrTouch(
      @ForAll @Size(max = 20) List<@IntRange(min = 1, max = 90) Integer> starts,
      @ForAll @IntRange(max = 12) int length) {
    SequenceSet set = new SequenceSet();
    TreeSet<Long> model = new TreeSet<>();
    for (long first : starts) {
      set.addRun(first, first + length);
      for (long sequence = first; sequence <= first + length; sequence++) {
        model.add(sequence);
      }
    }
    assertSame(set, model);
  }

  @Property(seed = "1")
  void comesBackFromItsBytes(@ForAll @Size(max = 40) List<@IntRange(min = 1) Integer> sequences) {
    SequenceSet set = new SequenceSet();
    sequences.forEach(set::add);
    StateWriter out = new StateWriter();
    set.encode(out);
    SequenceSet back = SequenceSet.decode(new StateReader(out.toBytes()));
    assertThat(back).hasToString(set.toString());
    assertThat(back.size()).isEqualTo(set.size());
  }

  @Property(seed = "1")
  void forgetsTheShortestRunsAndOfEquallyLongOnesTheFirst(
      @ForAll @Size(max = 60) List<@IntRange(min = 1, max = 200) Integer> sequences,
      @ForAll @IntRange(min = 1, max = 20) int most,
      @ForAll @IntRange(min = 1, max = 200) int kept) {
    SequenceSet set = new SequenceSet();
    sequences.forEach(set::add);
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
