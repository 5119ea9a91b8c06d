package io.lifeline.jobs.core.ledger;

import io.lifeline.codec.BatchReader;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.RetiredRoutes;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/** Keeps an account per emitter and route, and publishes changed balances as upserts. */
public final class LedgerJob implements Job {

  public static final String NAME = "ledger";

  private static final String PREFIX = "ledger/account/";
  private static final long FORGET_INTERVAL_MS = 60_000;
  private static final String GAPS_KEY = "ledger/gaps";

  /**
   * What an archive holds.
   *
   * @param events of each route
   * @param ends where the archive ends in each partition, see {@link ArchivedEvents#ends}
   */
  public record Counts(Map<RouteKey, Long> events, Map<Integer, Long> ends) {}

  /** Provides the last known event counts of an archive, without querying it. */
  @FunctionalInterface
  public interface Archived {
    /** Returns what the archive holds; null while it is unknown. */
    Counts last();

    /** Returns whether a query of the archive has completed, even with an error. */
    default boolean hasAnswered() {
      return true;
    }
  }

  private final LedgerSettings settings;
  private final KeyedState state;
  private final Archived archive;
  private final Metrics.Counter published;
  private final RetiredRoutes retired;
  private final Map<RouteKey, Account> accounts = new HashMap<>();
  private final Map<RouteKey, Balance> lastPublished = new HashMap<>();
  private final Set<RouteKey> changed = new HashSet<>();
  private final Set<RouteKey> heard = new HashSet<>();

  private long retentionGaps;
  private long nextPublishMs;
  private long nextForgetMs;
  private long forgetMs;

  /** @param archive null if there is no archive */
  public LedgerJob(LedgerSettings settings, KeyedState state, Archived archive, Metrics metrics) {
    this.settings = settings;
    this.state = state;
    this.archive = archive;
    this.retired = new RetiredRoutes(state, NAME, settings.retentionMs());
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
    retired.keep(key);
    Account account = accounts.computeIfAbsent(key, this::retiredOrNew);
    account.add(batch, position, retentionGaps);
    changed.add(key);
    heard.add(key);
  }

  private Account retiredOrNew(RouteKey key) {
    Account account = fromState(key);
    if (account == null) {
      return new Account();
    }
    account.heard(0); // the next forget() sets it, also after a restart
    return account;
  }

  /** Returns a route's account from outside memory; null if there is none. */
  private Account fromState(RouteKey key) {
    byte[] value = retired.get(key);
    Account account = value == null ? null : Account.decode(value);
    return account == null || account.isSilent(forgetMs, settings.retentionMs()) ? null : account;
  }

  @Override
  public void duplicate(BatchReader batch, Position position) {
    RouteKey key = RouteKey.of(batch);
    retired.keep(key);
    Account account = accounts.computeIfAbsent(key, this::fromState);
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
    if (archive != null && !archive.hasAnswered()) {
      return; // wait for the first answer
    }
    nextPublishMs = nowMs + settings.intervalMs();
    Counts archived = archive == null ? null : archive.last();
    accounts.forEach((key, account) -> publishIfChanged(key, account, archived, nowMs, output));
  }

  @Override
  public void save() {
    retired.save(this::remove, forgetMs);
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

  private byte[] remove(RouteKey key) {
    changed.add(key);
    lastPublished.remove(key);
    return accounts.remove(key).encode();
  }

  /** @param archived null if unknown */
  private void publishIfChanged(
      RouteKey key, Account account, Counts archived, long nowMs, Output output) {
    OptionalLong inArchive =
        archived == null ? OptionalLong.empty() : OptionalLong.of(archived.events().getOrDefault(key, 0L));
    boolean isPassed = archived != null && account.isPassed(archived.ends());
    Balance balance = Balance.of(account, inArchive, isPassed, nowMs, settings.lostContactMs());
    if (balance.equals(lastPublished.put(key, balance))) {
      boolean isLast =
          balance.isSettled() || balance.isStable() && account.isSilent(forgetMs, RetiredRoutes.IDLE_MS);
      if (isLast && (archive == null || archived != null) && !heard.contains(key)) {
        retired.due(key);
      }
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

  @Override
  public void forget(long nowMs) {
    if (nowMs < nextForgetMs) {
      return;
    }
    nextForgetMs = nowMs + FORGET_INTERVAL_MS;
    forgetMs = nowMs;
    retired.expire(nowMs);
    for (RouteKey key : heard) {
      accounts.get(key).heard(nowMs);
      changed.add(key);
    }
    heard.clear();
    accounts
        .entrySet()
        .removeIf(
            entry -> {
              boolean silent = entry.getValue().isSilent(nowMs, settings.retentionMs());
              if (silent) {
                changed.add(entry.getKey());
                lastPublished.remove(entry.getKey());
                retired.keep(entry.getKey());
              }
              return silent;
            });
  }
}
