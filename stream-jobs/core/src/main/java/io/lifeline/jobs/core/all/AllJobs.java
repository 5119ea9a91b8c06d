package io.lifeline.jobs.core.all;

import io.lifeline.jobs.core.bottleneck.BottleneckFactory;
import io.lifeline.jobs.core.decode.DecodeFactory;
import io.lifeline.jobs.core.filter.FilterFactory;
import io.lifeline.jobs.core.ledger.ArchivedEvents;
import io.lifeline.jobs.core.ledger.LedgerFactory;
import io.lifeline.jobs.core.pair.PairFactory;
import io.lifeline.jobs.core.plan.JobFactory;
import io.lifeline.jobs.core.rate.RateFactory;
import io.lifeline.jobs.core.summarise.SummariseFactory;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** All jobs except the archive, which each host implements in its own way. */
public final class AllJobs {

  private AllJobs() {}

  /** @param archived opens the counts of the configured archive, if there is one */
  public static List<JobFactory> of(Supplier<Optional<ArchivedEvents>> archived) {
    return List.of(
        new DecodeFactory(),
        new FilterFactory(),
        new PairFactory(),
        new RateFactory(),
        new LedgerFactory(archived),
        new SummariseFactory(),
        new BottleneckFactory());
  }
}
