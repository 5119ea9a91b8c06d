package io.lifeline.jobs.core.ledger;

import io.lifeline.codec.Counter;
import java.util.OptionalLong;

/**
 * The books of one route at one moment. Always: {@code emitted = archived + in_flight + dropped + expired + missing -
 * duplicated}, where without an archive {@code received} stands for {@code archived}.
 *
 * @param received events of all distinct batches that were read
 * @param archived of those, in the archive; empty if none is known
 * @param inFlight received and not yet archived, or not received and still to be expected
 * @param dropped events that the emitter counted as dropped, whatever the reason
 * @param expired events that the broker's retention removed unread
 * @param missing events that should have come and have not
 * @param duplicated events received beyond what was emitted
 */
record Balance(
    State state,
    long emitted,
    long received,
    OptionalLong archived,
    long inFlight,
    long dropped,
    long expired,
    long missing,
    long duplicated) {

  /** Where the emitter is in its life. */
  enum State {
    /** It sends. */
    LIVE,
    /** It said its last word. */
    FINAL,
    /** It died, and a recovery said its last word. */
    RECOVERED,
    /** It is silent without having said so. */
    LOST_CONTACT
  }

  /**
   * @param archivedEvents what the archive holds of the route, if there is an archive. It may be ahead of what was
   *     received here, or hold what came before; only what is within the account's own view counts.
   */
  static Balance of(Account account, OptionalLong archivedEvents, long nowMs, long lostContactMs) {
    boolean silent = nowMs - account.lastMs() >= lostContactMs;
    long gap = Math.max(0, account.inBatches() - account.events());
    long givenUp = Math.min(gap, account.givenUp());
    long expired = Math.min(gap - givenUp, account.skippedByRetention());
    long owed = gap - givenUp - expired;
    long neverBatched = account.counter(Counter.EMITTED) - account.inBatches();
    OptionalLong archived =
        archivedEvents.isPresent()
            ? OptionalLong.of(Math.min(archivedEvents.getAsLong(), account.events()))
            : OptionalLong.empty();
    long notArchived = archived.isPresent() ? account.events() - archived.getAsLong() : 0;
    return new Balance(
        state(account, silent),
        account.counter(Counter.EMITTED),
        account.events(),
        archived,
        notArchived + (silent ? 0 : owed),
        neverBatched + givenUp,
        expired,
        silent ? owed : 0,
        Math.max(0, account.events() - account.inBatches()));
  }

  private static State state(Account account, boolean silent) {
    if (account.isFinal()) {
      return account.isRecovered() ? State.RECOVERED : State.FINAL;
    }
    return silent ? State.LOST_CONTACT : State.LIVE;
  }
}
