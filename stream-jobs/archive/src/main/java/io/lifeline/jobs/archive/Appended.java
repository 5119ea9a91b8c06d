package io.lifeline.jobs.archive;

/** What became of a batch that was handed to the archive. */
public enum Appended {
  /** Its events are in the columns that the next roll publishes. */
  ACCEPTED,
  /** The same batch came before; nothing was added. */
  DUPLICATE,
  /** It could not be decoded or contradicts an earlier one; the listener of rejections was told. */
  REJECTED,
  /** Its position lies before the archive's end: it was dealt with in an earlier roll. */
  ALREADY_ARCHIVED
}
