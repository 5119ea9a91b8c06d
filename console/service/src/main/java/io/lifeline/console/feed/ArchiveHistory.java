package io.lifeline.console.feed;

import io.lifeline.codec.Incarnation;
import io.lifeline.console.index.Origin;
import io.lifeline.console.index.TraceIndex;
import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.TimeSpan;
import io.lifeline.jobs.core.live.SeenBatches;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads the newest events of an archive into the index, in order of time. */
final class ArchiveHistory {
  /** Events that are added at once: between them the page is answered. */
  private static final int PIECE = 20_000;
  private static final int PER_SLICE = 1_000_000;

  private final ArchiveReader archive;
  private final TraceIndex index;
  private final SeenBatches seen;
  private final LoadProgress progress;
  private final Map<String, Emitter> emitters = new HashMap<>();
  private final Map<String, String> levels = new HashMap<>();

  private record Emitter(Incarnation incarnation, Origin origin) {}

  private record Row(long timeNs, String type, String id, Emitter emitter, int route, long sequence) {}

  ArchiveHistory(ArchiveReader archive, TraceIndex index, SeenBatches seen, LoadProgress progress) {
    this.archive = archive;
    this.index = index;
    this.seen = seen;
    this.progress = progress;
  }

  /** @param limit about how many events to read at most */
  void load(long limit) throws SQLException {
    TimeSpan newest = archive.newest(limit);
    Slices slices = Slices.of(archive, newest, limit, PER_SLICE);
    progress.begin(slices.events());
    readEmitters(archive.events(newest));
    readLevels(archive.events(newest));
    for (Slices.Slice slice : slices.spans()) {
      load(slice);
    }
  }

  private void load(Slices.Slice slice) throws SQLException {
    try (PreparedStatement query = archive.prepare("SELECT " + archive.timeNs() + " AS t, type, id, incarnation, route,"
        + " sequence FROM " + archive.events(new TimeSpan(slice.fromNs(), slice.toNs())) + " AS e ORDER BY t")) {
      query.setFetchSize(PIECE);
      try (ResultSet rows = query.executeQuery()) {
        List<Row> piece = nextPiece(rows);
        while (!piece.isEmpty() && !Thread.currentThread().isInterrupted()) {
          List<Row> ready = piece;
          index.add(() -> ready.forEach(this::add));
          progress.advance(ready.size());
          piece = nextPiece(rows);
        }
      }
    }
  }

  private List<Row> nextPiece(ResultSet rows) throws SQLException {
    List<Row> piece = new ArrayList<>(PIECE);
    while (piece.size() < PIECE && rows.next()) {
      Emitter emitter = emitters.get(rows.getString(4));
      if (emitter != null) { // else it was archived after the emitters were read, and comes from the broker
        piece.add(new Row(rows.getLong(1), rows.getString(2), rows.getString(3), emitter, rows.getInt(5),
            rows.getLong(6)));
      }
    }
    return piece;
  }

  private void add(Row row) {
    index.event(row.timeNs, index.kind(row.type, levels.getOrDefault(row.type, "info")), row.id,
        index.origin(row.emitter.origin));
    seen.add(row.emitter.incarnation, row.route, row.sequence);
  }

  private void readEmitters(String events) throws SQLException {
    try (PreparedStatement query = archive.prepare("SELECT incarnation, min(program), min(host), min(pid) FROM "
            + events + " AS e GROUP BY incarnation");
        ResultSet rows = query.executeQuery()) {
      while (rows.next()) {
        String incarnation = rows.getString(1);
        emitters.put(incarnation, new Emitter(Incarnation.parse(incarnation),
            new Origin(incarnation, rows.getString(2), rows.getString(3), rows.getLong(4))));
      }
    }
  }

  private void readLevels(String events) throws SQLException {
    try (PreparedStatement query = archive.prepare("SELECT type, min(level) FROM " + events + " AS e GROUP BY type");
        ResultSet rows = query.executeQuery()) {
      while (rows.next()) {
        levels.put(rows.getString(1), rows.getString(2));
      }
    }
  }
}
