package io.lifeline.jobs.core.ledger;

import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;

/**
 * Settings of the job ledger.
 *
 * @param intervalMs how often changed balances are published
 * @param lostContactMs silence after which an emitter counts as lost, and its outstanding events as missing
 * @param retentionMs silence after which a route is forgotten
 */
public record LedgerSettings(long intervalMs, long lostContactMs, long retentionMs) {

  public static LedgerSettings of(JobConfig config) {
    return new LedgerSettings(
        config.get(Keys.LEDGER_INTERVAL).toMillis(),
        config.get(Keys.LEDGER_LOST_CONTACT).toMillis(),
        config.get(Keys.RETENTION).toMillis());
  }
}
