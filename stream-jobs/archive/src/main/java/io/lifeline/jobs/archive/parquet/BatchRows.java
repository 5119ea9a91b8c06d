package io.lifeline.jobs.archive.parquet;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Counter;
import io.lifeline.jobs.archive.Json;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.core.Position;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBDataChunkWriter;

/** The batches of a roll as a table: the data common to their events, and the header fields worth keeping. */
public final class BatchRows implements RowSource {
  /** Approximate size of one entry in memory. */
  private static final long ENTRY_BYTES = 400;

  private static final List<VectorColumn> COLUMNS = columnList();

  private record Entry(String[] texts, long[] numbers) {}

  private final List<Entry> entries = new ArrayList<>();
  private long contextBytes;

  /** Adds a batch's header; returns its index in the roll. */
  int add(BatchReader batch, Position position) {
    Map<String, String> clean = new LinkedHashMap<>();
    batch.context().forEach((key, value) -> clean.put(Sql.clean(key), Sql.clean(value)));
    String context = Json.object(clean);
    contextBytes += 2L * context.length();
    String[] texts = {
      batch.incarnation().toString(), Sql.clean(batch.routeName()), Sql.clean(batch.host()),
      Sql.clean(batch.program()), context,
    };
    int place = entries.size();
    Counter[] counters = Counter.values();
    long[] numbers = new long[9 + counters.length];
    numbers[0] = place;
    numbers[1] = position.offset();
    numbers[2] = position.brokerTimeMs();
    numbers[3] = batch.route();
    numbers[4] = batch.sequence();
    numbers[5] = batch.pid();
    numbers[6] = batch.eventCount();
    numbers[7] = batch.flags();
    numbers[8] = Integer.toUnsignedLong(batch.crc());
    for (Counter counter : counters) {
      numbers[9 + counter.ordinal()] = batch.counter(counter);
    }
    entries.add(new Entry(texts, numbers));
    return place;
  }

  long bytes() {
    return ENTRY_BYTES * entries.size() + contextBytes;
  }

  /** Returns SQL that reads batch files; files of earlier releases may lack the column crc. */
  public static String read(List<String> files) {
    return "FROM read_parquet(" + Sql.literals(files) + ", union_by_name = true)"
        + " UNION ALL BY NAME SELECT NULL::UINTEGER AS crc WHERE false";
  }

  private static List<VectorColumn> columnList() {
    List<VectorColumn> columns = new ArrayList<>();
    for (String name : List.of("incarnation", "route_name", "host", "program", "context")) {
      columns.add(new VectorColumn(name, DuckDBColumnType.VARCHAR));
    }
    for (String name : List.of("batch", "offset", "broker_time_ms", "route", "sequence", "pid", "events", "flags",
        "crc")) {
      columns.add(new VectorColumn(name, DuckDBColumnType.BIGINT));
    }
    for (Counter counter : Counter.values()) {
      columns.add(new VectorColumn(counter.label(), DuckDBColumnType.BIGINT));
    }
    return List.copyOf(columns);
  }

  @Override
  public List<VectorColumn> columns() {
    return COLUMNS;
  }

  @Override
  public int rows() {
    return entries.size();
  }

  @Override
  public void fill(DuckDBDataChunkWriter chunk, int from, int count) {
    List<Entry> part = entries.subList(from, from + count);
    int texts = part.get(0).texts.length;
    for (int column = 0; column < texts; column++) {
      byte[][] values = new byte[count][];
      for (int i = 0; i < count; i++) {
        values[i] = part.get(i).texts[column].getBytes(StandardCharsets.UTF_8);
      }
      chunk.vector(column).setStringUtf8Batch(0, values);
    }
    for (int column = texts; column < COLUMNS.size(); column++) {
      for (int i = 0; i < count; i++) {
        chunk.vector(column).setLong(i, part.get(i).numbers[column - texts]);
      }
    }
  }
}
