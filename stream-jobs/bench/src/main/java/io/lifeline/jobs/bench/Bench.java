package io.lifeline.jobs.bench;

import io.lifeline.jobs.core.Metrics;
import java.util.Map;
import picocli.CommandLine.Option;

/** Fills a broker with a backlog, which the measured program processes from the beginning in each round. */
public abstract class Bench implements Runnable {

  @Option(names = "--events", required = true, description = "events of the backlog")
  private long events;

  /** The compiler still replaces code in the first rounds, and joining a group for the first time takes longer. */
  protected static final int WARM_UP_ROUNDS = 6;

  @Option(names = "--rounds", defaultValue = "11", description = "repetitions, after some that warm up")
  private int rounds;

  @Option(names = "--broker-pid", required = true, description = "whose processor time counts as well")
  private long brokerPid;

  @Option(names = "--filled", description = "the broker holds the backlog already")
  private boolean filled;

  /** Returns the name of the measured row. */
  protected abstract String rowName();

  /** Publishes the backlog. */
  protected abstract void fill(long events) throws Exception;

  /** Starts the measured program at the beginning of the backlog; closing it ends the round. */
  protected abstract AutoCloseable start(int round, Metrics metrics) throws Exception;

  /** Returns the number of events processed so far, as evenly as the program counts them. */
  protected abstract long done(Metrics metrics);

  /** Returns the number of events in results. */
  protected long inResults(Metrics metrics) {
    return done(metrics);
  }

  /** Returns whether all parts of the measured program have begun to work. */
  protected boolean isSetUp(Metrics metrics) {
    return inResults(metrics) > 0;
  }

  @Override
  public final void run() {
    long all = Backlog.wholeBatches(events);
    double[] perSecond = new double[rounds];
    double[] perCoreSecond = new double[rounds];
    double setUpShare = 0;
    Stopwatch stopwatch = new Stopwatch(brokerPid);
    try {
      if (!filled) {
        fill(all);
      }
      for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
        Metrics metrics = new Metrics();
        try (AutoCloseable measured = start(round, metrics)) {
          Stopwatch.Reading reading = stopwatch.watch(() -> done(metrics), () -> isSetUp(metrics), all);
          stopwatch.awaitAll(() -> inResults(metrics), all);
          if (round >= 0) {
            setUpShare += reading.setUpShare() / rounds;
            perSecond[round] = reading.perSecond();
            perCoreSecond[round] = reading.perCoreSecond();
          }
        }
      }
    } catch (Exception e) {
      throw new IllegalStateException(rowName() + ": " + e.getMessage(), e);
    }
    Rates.print(rowName(), perSecond, perCoreSecond, Map.of("events", all, "set_up_share", setUpShare));
  }
}
