package io.lifeline.jobs.core.filter;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchSubset;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.derive.DerivedStream;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** Copies the events that meet a condition to a derived stream, as batches; for any number of conditions. */
public final class FilterJob implements Job {

  public static final String NAME = "filter";

  private record Branch(Filter filter, DerivedStream stream, Metrics.Counter undecided) {}

  private final List<Branch> branches = new ArrayList<>();

  public FilterJob(FilterSettings settings, KeyedState state, Metrics metrics) {
    settings
        .conditions()
        .forEach(
            (name, condition) ->
                branches.add(
                    new Branch(
                        new Filter(condition),
                        new DerivedStream(
                            name,
                            condition.toString(),
                            DerivedStream.Rest.LEFT_OUT,
                            state,
                            settings.retentionMs(),
                            metrics),
                        metrics.counter(
                            "lifeline_filter_undecided_total",
                            "Events left out: the condition cannot be evaluated for them.",
                            "stream",
                            name))));
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public void accept(BatchReader batch, Position position, Output output) {
    for (Branch branch : branches) {
      BitSet chosen = branch.filter().choose(batch);
      branch.undecided().add(branch.filter().undecided());
      int count = chosen.cardinality();
      branch
          .stream()
          .derive(batch, position, count, (from, to) -> BatchSubset.of(batch, slice(chosen, from, to, count)), output);
    }
  }

  @Override
  public void forget(long nowMs) {
    branches.forEach(branch -> branch.stream().forget(nowMs));
  }

  @Override
  public void save() {
    branches.forEach(branch -> branch.stream().save());
  }

  /** Returns the set bits from the {@code from}-th (inclusive) to the {@code to}-th (exclusive). */
  private static BitSet slice(BitSet bits, int from, int to, int count) {
    if (from == 0 && to == count) {
      return bits;
    }
    BitSet slice = new BitSet();
    bits.stream().skip(from).limit(to - from).forEach(slice::set);
    return slice;
  }
}
