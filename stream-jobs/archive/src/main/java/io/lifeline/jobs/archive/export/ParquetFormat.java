package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.EventCursor;
import io.lifeline.jobs.archive.Sql;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBDataChunkWriter;

/** One Parquet file with the columns of the archive's view {@code events}, and the time as a number. */
final class ParquetFormat implements EventFormat {
  private static final int NUMBERS_BYTES = 64;

  private final ExportOptions options;

  ParquetFormat(ExportOptions options) {
    this.options = options;
  }

  @Override
  public void write(EventCursor events, Output output, Counts counts) throws IOException, SQLException {
    Map<String, DuckDBColumnType> columns = new LinkedHashMap<>();
    for (String number : new String[] {"ts_ns", "pid", "thread", "route", "sequence", "event_index"}) {
      columns.put(number, DuckDBColumnType.BIGINT);
    }
    for (String text : new String[] {"type", "level", "host", "program", "incarnation", "id", "fields"}) {
      columns.put(text, DuckDBColumnType.VARCHAR);
    }
    try (RowTable table = new RowTable(columns, (chunk, row) -> next(events, chunk, row), options, false)) {
      table.copy("COPY (SELECT make_timestamp_ns(ts_ns) AS ts, ts_ns, type, level, host, program,"
          + " pid::UINTEGER AS pid, " + Sql.unsigned("thread") + " AS thread, incarnation, route::USMALLINT AS route, "
          + Sql.unsigned("sequence") + " AS sequence, event_index::UINTEGER AS event_index, id, fields::JSON AS fields"
          + " FROM " + RowTable.SQL + ") TO " + Sql.literal(output.file().toString())
          + " (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE_BYTES '64MB')");
    }
  }

  private static int next(EventCursor events, DuckDBDataChunkWriter chunk, int row) throws SQLException {
    ArchivedEvent event = events.next();
    if (event == null) {
      return -1;
    }
    long[] numbers = {event.timeNs(), event.pid(), event.thread(), event.route(), event.sequence(), event.index()};
    for (int i = 0; i < numbers.length; i++) {
      chunk.vector(i).setLong(row, numbers[i]);
    }
    StringBuilder fields = new StringBuilder();
    MembersJson.append(fields, event);
    String[] texts = {event.type().name(), event.type().level(), event.host(), event.program(), event.incarnation(),
        event.id(), fields.toString()};
    int bytes = NUMBERS_BYTES;
    for (int i = 0; i < texts.length; i++) {
      if (texts[i] == null) {
        chunk.vector(numbers.length + i).setNull(row);
      } else {
        byte[] utf8 = texts[i].getBytes(StandardCharsets.UTF_8);
        chunk.vector(numbers.length + i).setStringUtf8Batch(row, new byte[][] {utf8});
        bytes += utf8.length;
      }
    }
    return bytes;
  }
}
