package io.lifeline.jobs.archive.postgres;

/** Where the storing of a roll has got to. Tests stop or kill the writer between two of these. */
enum StoreStep {
  /** Tables and partitions stand, empty. */
  TABLES_READY,
  /** The position is in the open transaction. */
  POSITION_MOVED,
  /** So are all rows. */
  ROWS_COPIED,
  /** From here on they are in the archive. */
  COMMITTED
}
