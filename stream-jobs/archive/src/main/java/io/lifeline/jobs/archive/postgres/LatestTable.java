package io.lifeline.jobs.archive.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes the table of the latest events. Replacing a row costs the server as much as storing five events, and with many
 * emitters most rows are replaced again a second later. So then the newest rows stay in memory and are written at
 * intervals. Until then each roll adds its rows to a journal, as one text, in its transaction: the next writer of the
 * partition writes what one that was killed had in memory.
 */
final class LatestTable {
  /** Named like the views in {@link Views#MARKS}: no event type's table can have this name. */
  static final String JOURNAL = ":00000003";

  static final String JOURNAL_DEFINITION = "partition integer NOT NULL, next bigint NOT NULL, rows text NOT NULL";

  /** How old the table may be. */
  private static final long MAX_DELAY_NS = Duration.ofSeconds(10).toNanos();

  /** Rows of a roll from which on they are written at once: their text would take several times as much memory. */
  private static final long MAX_JOURNALED_BYTES = 16 << 20;

  private final Connection connection;
  private final Upserts upserts;
  private final Upserts.Table table;
  private final String journal;
  private final int partition;
  private final long maxBytes;

  /** Memory of the rows of all partitions. */
  private final AtomicLong held;

  private final LatestRows rows = new LatestRows();

  /** When rows are due that are only in the journal, as {@link System#nanoTime}; null if there are none. */
  private volatile Long putOffUntil;

  private boolean isWritten;

  /**
   * @param maxBytes memory from which on the rows are written earlier
   * @param held memory of the rows of all partitions
   */
  LatestTable(Connection connection, Upserts upserts, Schema schema, int partition, long maxBytes, AtomicLong held) {
    this.connection = connection;
    this.upserts = upserts;
    this.table = LatestRows.table(schema);
    this.journal = schema.data(JOURNAL);
    this.partition = partition;
    this.maxBytes = maxBytes;
    this.held = held;
  }

  /** Writes the rows that an earlier writer of the partition has only added to the journal. */
  void recover() throws SQLException {
    upserts.storeFrom(table, LatestRows.fromJson(journal + " j", "j.rows", "j.next", "j.partition = " + partition));
    clearJournal();
  }

  /** Stores the rows of a roll that ends at an offset; without new ones, all that are only in the journal. */
  void store(LatestRows added, long next) throws SQLException {
    long before = rows.bytes();
    rows.addAll(added);
    boolean isFull = held.addAndGet(rows.bytes() - before) > maxBytes;
    boolean isLarge = added.bytes() > MAX_JOURNALED_BYTES;
    isWritten = rows.count() < Upserts.MANY || added.count() == 0 || isFull || isLarge;
    if (isWritten) {
      rows.store(upserts, table);
      if (putOffUntil != null) {
        clearJournal();
      }
    } else {
      addToJournal(added, next);
    }
  }

  /** Forgets the rows that were written; called after the commit. */
  void committed() {
    if (isWritten) {
      forget();
    } else if (putOffUntil == null) {
      putOffUntil = System.nanoTime() + MAX_DELAY_NS;
    }
  }

  /** Returns the memory of the rows to other partitions. */
  void forget() {
    held.addAndGet(-rows.bytes());
    rows.clear();
    putOffUntil = null;
  }

  Long putOffUntil() {
    return putOffUntil;
  }

  private void addToJournal(LatestRows added, long next) throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement("INSERT INTO " + journal + " VALUES (?, ?, ?)")) {
      insert.setInt(1, partition);
      insert.setLong(2, next);
      insert.setString(3, added.json());
      insert.executeUpdate();
    }
  }

  private void clearJournal() throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.executeUpdate("DELETE FROM " + journal + " WHERE partition = " + partition);
    }
  }
}
