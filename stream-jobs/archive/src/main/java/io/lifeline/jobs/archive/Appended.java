package io.lifeline.jobs.archive;

/** Result of appending a batch to the archive. */
public enum Appended {
  /** The next roll publishes its events. */
  ACCEPTED,
  /** The batch was appended before; nothing was added. */
  DUPLICATE,
  /** It could not be decoded or conflicts with an earlier batch; the rejection was reported to the feed. */
  REJECTED,
  /** Its position is before the archive's end: an earlier roll handled it. */
  ALREADY_ARCHIVED
}
