package io.lifeline.jobs.core.ledger;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.lifeline.jobs.core.plan.ByEmitter;
import io.lifeline.jobs.core.plan.JobFactory;
import io.lifeline.jobs.core.plan.Plan;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Makes {@link LedgerJob}s, which share one view of the archive. */
public final class LedgerFactory implements JobFactory {

  private final Supplier<Optional<ArchivedEvents>> archive;

  /** @param archive opens the counts of the configured archive, if there is one */
  public LedgerFactory(Supplier<Optional<ArchivedEvents>> archive) {
    this.archive = archive;
  }

  @Override
  public String name() {
    return LedgerJob.NAME;
  }

  @Override
  public List<Destination> outputs() {
    return List.of(Destination.LEDGER);
  }

  @Override
  public Plan plan(JobConfig config, Metrics metrics) {
    LedgerSettings settings = LedgerSettings.of(config);
    ArchivedCounts archived =
        archive.get().map(counts -> new ArchivedCounts(counts, config.get(Keys.LEDGER_INTERVAL))).orElse(null);
    if (archived == null) {
      return new ByEmitter(state -> new LedgerJob(settings, state, null, metrics), null);
    }
    Runnable gauge = metrics.gauge("lifeline_ledger_archive_age_seconds",
        "Age of the counts of the archive that the ledger uses.", archived::ageSeconds);
    return new ByEmitter(state -> new LedgerJob(settings, state, archived, metrics), () -> {
      gauge.run();
      archived.close();
    });
  }
}
