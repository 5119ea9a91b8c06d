package io.lifeline.jobs.core.ledger;

import io.lifeline.codec.Counter;
import java.util.OptionalLong;

/**
 * The balance of one route at one moment. Always: {@code emitted = archived + in_flight + dropped + expired +
 * not_archived + missing - duplicated}; without an archive, {@code received} replaces {@code archived}.
 *
 * @param received events of all distinct batches that were read
 * @param archived of those, events in the archive; empty if unknown
 * @param inFlight events received but not yet archived, or not yet received but still expected
 * @param dropped events that the emitter counted as dropped, for any reason
 * @param expired events that the broker's retention removed unread
 * @param notArchived events received that the archive has passed without storing them: the broker's retention removed
 *     them before the archive read them, or the archive rejected them
 * @param missing events not received from an emitter that is silent
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
    long notArchived,
    long missing,
    long duplicated) {

  /** State of an emitter. */
  enum State {
    /** It is sending. */
    LIVE,
    /** It has sent its final batch. */
    FINAL,
    /** It died, and a recovery has sent its final batch. */
    RECOVERED,
    /** It is silent, but has sent no final batch. */
    LOST_CONTACT
  }

  /**
   * @param archivedEvents the route's events in the archive, if there is an archive. It may be ahead of this account or
   *     hold earlier events, so the number is limited to the events received here.
   * @param isPassed whether the archive has read beyond all batches of the account
   */
  static Balance of(
      Account account, OptionalLong archivedEvents, boolean isPassed, long nowMs, long lostContactMs) {
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
        (isPassed ? 0 : notArchived) + (silent ? 0 : owed),
        neverBatched + givenUp,
        expired,
        isPassed ? notArchived : 0,
        silent ? owed : 0,
        Math.max(0, account.events() - account.inBatches()));
  }

  /** Returns whether only another batch can change the balance. */
  boolean isStable() {
    return state != State.LIVE && inFlight == 0;
  }

  /** Returns whether nothing more is expected of the route: it has ended, and all its events are accounted for. */
  boolean isSettled() {
    return isStable() && state != State.LOST_CONTACT && missing == 0;
  }

  private static State state(Account account, boolean silent) {
    if (account.isFinal()) {
      return account.isRecovered() ? State.RECOVERED : State.FINAL;
    }
    return silent ? State.LOST_CONTACT : State.LIVE;
  }
}
