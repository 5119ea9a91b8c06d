package io.lifeline.jobs.core.ledger;

import io.lifeline.codec.BatchReader;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps the books per emitter and route, and publishes those that changed as upserts. */
public final class LedgerJob implements Job {

  public static final String NAME = "ledger";

  private static final Logger LOG = LoggerFactory.getLogger(LedgerJob.class);
  private static final String PREFIX = "ledger/account/";
  private static final String GAPS_KEY = "ledger/gaps";

  private final LedgerSettings settings;
  private final KeyedState state;
  private final Optional<ArchivedEvents> archive;
  private final Metrics.Counter published;
  private final Map<RouteKey, Account> accounts = new HashMap<>();
  private final Map<RouteKey, Balance> lastPublished = new HashMap<>();
  private final Set<RouteKey> changed = new HashSet<>();
  private Map<RouteKey, Long> archived = Map.of();
  private long retentionGaps;
  private long nextPublishMs;

  /** @param archive what has been archived, if there is an archive to ask */
  public LedgerJob(LedgerSettings settings, KeyedState state, Optional<ArchivedEvents> archive, Metrics metrics) {
    this.settings = settings;
    this.state = state;
    this.archive = archive;
    this.published = metrics.counter("lifeline_ledger_published_total", "Balances published.");
    state.scan(
        PREFIX,
        (key, value) -> accounts.put(RouteKey.parse(key.substring(PREFIX.length())), Account.decode(value)));
    byte[] gaps = state.get(GAPS_KEY);
    if (gaps != null) {
      retentionGaps = new StateReader(gaps).version(1).varint();
    }
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public void accept(BatchReader batch, Position position, Output output) {
    RouteKey key = RouteKey.of(batch);
    accounts.computeIfAbsent(key, k -> new Account()).add(batch, position.brokerTimeMs(), retentionGaps);
    changed.add(key);
  }

  @Override
  public void duplicate(BatchReader batch, Position position) {
    RouteKey key = RouteKey.of(batch);
    Account account = accounts.get(key);
    if (account != null) {
      account.addRepeat();
      changed.add(key);
    }
  }

  @Override
  public void expired(int partition, long from, long to) {
    retentionGaps++;
    state.put(GAPS_KEY, new StateWriter().version(1).varint(retentionGaps).toBytes());
  }

  @Override
  public void punctuate(long nowMs, Output output) {
    if (nowMs < nextPublishMs) {
      return;
    }
    nextPublishMs = nowMs + settings.intervalMs();
    refreshArchived();
    accounts.forEach((key, account) -> publishIfChanged(key, account, nowMs, output));
    forgetSilent(nowMs);
  }

  @Override
  public void save() {
    for (RouteKey key : changed) {
      Account account = accounts.get(key);
      if (account == null) {
        state.delete(PREFIX + key);
      } else {
        state.put(PREFIX + key, account.encode());
      }
    }
    changed.clear();
  }

  private void refreshArchived() {
    if (archive.isPresent()) {
      try {
        archived = archive.get().count();
      } catch (IOException e) {
        LOG.warn("the archive's manifests cannot be read: {}; the ledger keeps what it knew", e.getMessage());
      }
    }
  }

  private void publishIfChanged(RouteKey key, Account account, long nowMs, Output output) {
    OptionalLong inArchive =
        archive.isPresent() ? OptionalLong.of(archived.getOrDefault(key, 0L)) : OptionalLong.empty();
    Balance balance = Balance.of(account, inArchive, nowMs, settings.lostContactMs());
    if (balance.equals(lastPublished.put(key, balance))) {
      return;
    }
    long revision = account.nextRevision();
    changed.add(key);
    published.increment();
    output.send(
        Destination.LEDGER,
        key.toString(),
        NAME + ":" + key + ":" + revision,
        BalanceJson.of(key, account, balance, revision));
  }

  private void forgetSilent(long nowMs) {
    accounts
        .entrySet()
        .removeIf(
            entry -> {
              boolean silent = nowMs - entry.getValue().lastMs() > settings.retentionMs();
              if (silent) {
                changed.add(entry.getKey());
                lastPublished.remove(entry.getKey());
              }
              return silent;
            });
  }
}
