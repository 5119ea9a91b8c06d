package io.lifeline.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.cases.Cases;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests subsets of the golden batches, which cover every byte order, compression and shape. */
class BatchSubsetTest {
  private static final List<byte[]> PARENTS = new ArrayList<>();

  static {
    Vectors.valid().forEach(file -> PARENTS.add(Vectors.bytes(file)));
  }

  private final BatchReader parent = new BatchReader();
  private final BatchReader derived = new BatchReader();

  @Test
  void holdsTheChosenEventsAsTheyWereAndNothingElse() {
    Cases.each(1000, any -> {
      read(parent, PARENTS.get(any.between(0, PARENTS.size() - 1)));
      double density = any.between(0.0, 1.0);
      Random random = new Random(any.number());
      BitSet kept = new BitSet();
      for (int event = 0; event < parent.eventCount(); event++) {
        kept.set(event, random.nextDouble() < density);
      }
      isTheSubset(kept);
    });
  }

  private void isTheSubset(BitSet kept) throws RejectedBatchException {
    read(derived, BatchSubset.of(parent, kept).incarnation(new Incarnation(1, 2)).sequence(3).toByteArray());

    assertThat(derived.eventCount()).isEqualTo(kept.cardinality());
    while (parent.next()) {
      if (kept.get(parent.eventIndex())) {
        assertThat(derived.next()).isTrue();
        assertThat(event(derived)).isEqualTo(event(parent));
      }
    }
    assertThat(derived.types()).allSatisfy(type -> assertThat(parent.types()).contains(type));
    if (kept.isEmpty()) {
      assertThat(derived.types()).isEmpty();
    }
    assertThat(derived.header().byteOrder()).isEqualTo(parent.header().byteOrder());
    assertThat(derived.header().compression()).isEqualTo(parent.header().compression());
    assertThat(derived.header().contextPairs()).isEqualTo(parent.header().contextPairs());
    assertThat(List.of(derived.host(), derived.program(), derived.pid()))
        .isEqualTo(List.of(parent.host(), parent.program(), parent.pid()));
    assertThat(derived.isFinal()).isEqualTo(parent.isFinal());
  }

  @Test
  void identityAndCountersAreNotTheParents() throws Exception {
    byte[] batch =
        new BatchWriter()
            .incarnation(new Incarnation(5, 6))
            .sequence(9)
            .counter(Counter.EMITTED, 100)
            .parent(new Parent(new Incarnation(1, 1), 1, 0, 5, 0))
            .toByteArray();
    read(parent, batch);
    read(derived, BatchSubset.of(parent, new BitSet()).toByteArray());
    assertThat(derived.incarnation()).isNotEqualTo(parent.incarnation());
    assertThat(derived.counter(Counter.EMITTED)).isZero();
    assertThat(derived.isDerived()).as("the parent's own parent is not the subset's").isFalse();
  }

  private static void read(BatchReader reader, byte[] batch) throws RejectedBatchException {
    reader.read(batch, 0, batch.length);
  }

  /** Returns everything that a reader provides about the current event. */
  private static List<Object> event(BatchReader reader) {
    List<Object> told = new ArrayList<>();
    told.add(reader.type());
    told.add(reader.typeNumber());
    told.add(reader.tick());
    told.add(reader.timeNs());
    told.add(reader.thread());
    for (int field = 0; field < reader.type().fields().size(); field++) {
      int at = reader.valueOffset(field);
      told.add(Arrays.hashCode(Arrays.copyOfRange(reader.raw(), at, at + reader.valueLength(field))));
    }
    return told;
  }
}
