package io.lifeline.jobs.archive.parquet;

import io.lifeline.codec.Counter;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ColumnNames;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.TypeEntry;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;

/** Writes the data files of a roll under temporary names. */
final class RollFiles {
  private static final String BATCH_COLUMNS = "b.host, b.program, b.pid, %s AS thread, b.incarnation, b.route,"
      + " b.sequence, r.event_index::UINTEGER AS event_index";

  /** TIMESTAMP_NS reserves both ends of the 64-bit range for infinities; only a broken clock reaches them. */
  private static final String TIME =
      "make_timestamp_ns(greatest(least(r.ts, 9223372036854775806), -9223372036854775806)) AS ts";

  private final DuckTables duck;
  private final DataFiles files;

  RollFiles(DuckTables duck, DataFiles files) {
    this.duck = duck;
    this.files = files;
  }

  /** Writes a file per type, one for all rare types, and one for the batches. On failure no file is left. */
  void write(Roll roll, int rareRows) throws IOException {
    if (roll.batches().rows() == 0) {
      return;
    }
    try (DuckTables.Table batches = duck.table(roll.batches())) {
      writeEvents(roll, rareRows, batches);
      files.write(Manifest.Kind.BATCHES, List.of(), batchesQuery(batches), roll.batches().rows(),
          roll.receivedMs());
    } catch (IOException | RuntimeException e) {
      files.remove();
      throw e;
    }
  }

  private void writeEvents(Roll roll, int rareRows, DuckTables.Table batches) throws IOException {
    List<TypeRows> frequent = roll.frequentTypes(rareRows);
    try (Origins origins = new Origins(duck, batches)) {
      duck.expect(frequent.stream().mapToInt(TypeRows::rows).max().orElse(0));
      for (TypeRows type : frequent) {
        writeType(type, origins, roll.receivedMs());
      }
      List<TypeRows> rare = roll.rareTypes(rareRows);
      if (!rare.isEmpty()) {
        writeShared(rare, origins, roll.receivedMs());
      }
    } catch (SQLException e) {
      throw new ArchiveException("DuckDB rejects the headers of batches: " + e.getMessage(), e);
    }
  }

  private void writeType(TypeRows type, Origins origins, long receivedMs) throws IOException {
    TypeEntry entry = TypeEntry.of(type.type());
    List<String> names = ColumnNames.of(entry);
    StringBuilder select = new StringBuilder("SELECT ").append(TIME).append(", ");
    for (int i = 0; i < entry.fields().size(); i++) {
      String value = type.field(i).value("r.f" + i);
      select.append(value).append(" AS ").append(Sql.identifier(names.get(i))).append(", ");
    }
    try (DuckTables.Table rows = duck.table(type)) {
      select.append(String.format(Locale.ROOT, BATCH_COLUMNS, type.threads().value("r.thread")));
      select.append(" FROM ").append(rows.sql()).append(" r").append(origins.join());
      files.write(Manifest.Kind.TYPE, List.of(entry.id()), select.toString(), type.rows(), receivedMs);
    }
  }

  private void writeShared(List<TypeRows> types, Origins origins, long receivedMs) throws IOException {
    RareRows rare = new RareRows(types);
    StringBuilder select = new StringBuilder("SELECT ").append(TIME)
        .append(", r.type, r.name, r.level, r.id, r.fields::JSON AS fields, ");
    rare.slots().forEach(slot -> select.append("r.").append(slot).append(", "));
    try (DuckTables.Table rows = duck.table(rare)) {
      select.append(String.format(Locale.ROOT, BATCH_COLUMNS, Sql.unsigned("r.thread")));
      select.append(" FROM ").append(rows.sql()).append(" r").append(origins.join());
      files.write(Manifest.Kind.SHARED, rare.typeIds(), select.toString(), rare.rows(), receivedMs);
    }
  }

  private static String batchesQuery(DuckTables.Table batches) {
    StringBuilder select = new StringBuilder("SELECT b.offset, epoch_ms(b.broker_time_ms) AS broker_time,")
        .append(" b.incarnation, b.route::USMALLINT AS route, b.route_name, ")
        .append(Sql.unsigned("b.sequence")).append(" AS sequence, b.host, b.program, b.pid::UINTEGER AS pid,")
        .append(" b.events::UINTEGER AS events, (b.flags & 1) <> 0 AS final, (b.flags & 2) <> 0 AS recovered,")
        .append(" (b.flags & 4) <> 0 AS clock_uncertain, b.crc::UINTEGER AS crc, b.context::JSON AS context");
    for (Counter counter : Counter.values()) {
      select.append(", ").append(Sql.unsigned("b." + counter.label())).append(" AS ").append(counter.label());
    }
    return select + " FROM " + batches.sql() + " b";
  }
}
