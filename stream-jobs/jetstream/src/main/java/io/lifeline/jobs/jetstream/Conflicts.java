package io.lifeline.jobs.jetstream;

import io.nats.client.JetStreamApiException;

/** Distinguishes a failed compare-and-set from other errors. */
final class Conflicts {

  /** "Wrong last sequence", from a single server and from a cluster. */
  private static final int WRONG_LAST_SEQUENCE = 10071;
  private static final int WRONG_LAST_SEQUENCE_CONSTANT = 10164;

  private Conflicts() {}

  static boolean isConflict(JetStreamApiException e) {
    return e.getApiErrorCode() == WRONG_LAST_SEQUENCE || e.getApiErrorCode() == WRONG_LAST_SEQUENCE_CONSTANT;
  }
}
