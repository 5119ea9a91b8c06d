package io.lifeline.jobs.archive.postgres;

/** Steps of storing a roll. Tests stop or kill the writer between two of them. */
enum StoreStep {
  /** Tables and partitions exist, empty. */
  TABLES_READY,
  /** The position is in the open transaction. */
  POSITION_MOVED,
  /** All rows are in the open transaction. */
  ROWS_COPIED,
  /** The transaction is committed: the roll is in the archive. */
  COMMITTED
}
