package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.ArchivedType;
import io.lifeline.jobs.archive.EventCursor;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBDataChunkWriter;

/**
 * Paraver's trace: {@code .prv} with the records, {@code .pcf} with the names of types, {@code .row} with those of
 * threads. A record of a state or a communication is known only when it ends, but the trace is ordered by their
 * beginnings; DuckDB sorts the records, on disk if they are many. Times are relative to the first event.
 *
 * <p>A communication leads from the end of a step to the next step of the same id in another process: to its start, or
 * to its end if it started earlier, as a receiver that waits does.
 */
final class ParaverFormat implements EventFormat {
  private static final int RECORD_BYTES = 32;

  /** An open operation: its thread, and its number there. */
  private record Running(ParaverThreads.ThreadObject thread, long operation, long sinceNs) {}

  /** The last step of an id that ended. */
  private record Step(String incarnation, String place, long endNs, long nbytes) {}

  private record Record(long timeNs, String text) {}

  private final ExportOptions options;
  private final Deque<Record> records = new ArrayDeque<>();
  private final Map<String, ParaverState> states = new HashMap<>();
  private final LinkedHashMap<String, Step> steps = new LinkedHashMap<>();
  private ParaverThreads threads;
  private ParaverTypes types;
  private OpenPairs<Running> open;
  private Counts counts;
  private TraceClock clock;
  private boolean ended;

  ParaverFormat(ExportOptions options) {
    this.options = options;
  }

  @Override
  public void write(EventCursor events, Output output, Counts count) throws IOException, SQLException {
    counts = count;
    threads = new ParaverThreads(options.maxTracks());
    types = new ParaverTypes(counts);
    clock = new TraceClock(counts);
    open = new OpenPairs<>(options.maxOpen(), events.types(), counts);
    Map<String, DuckDBColumnType> columns = new LinkedHashMap<>();
    columns.put("time", DuckDBColumnType.BIGINT);
    columns.put("n", DuckDBColumnType.BIGINT);
    columns.put("line", DuckDBColumnType.VARCHAR);
    try (OutputStream names = output.beside(".pcf");
        OutputStream rows = output.beside(".row");
        Writer trace = writer(output.stream());
        RowTable table = new RowTable(columns, new Records(events), options, true)) {
      boolean[] begun = new boolean[1];
      table.query("SELECT line FROM " + RowTable.SQL + " ORDER BY time, n", row -> {
        if (!begun[0]) { // all events have been read
          begun[0] = true;
          trace.write(header());
        }
        trace.write(row.getString(1));
        trace.write('\n');
      });
      if (!begun[0]) {
        trace.write(header());
      }
      names.write(types.names().getBytes(StandardCharsets.UTF_8));
      rows.write(threads.names().getBytes(StandardCharsets.UTF_8));
    }
  }

  private static Writer writer(OutputStream out) {
    return new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8), 1 << 16);
  }

  private String header() {
    return threads.header(clock.firstNs(), clock.nowNs()) + "\n";
  }

  /** The records in the order in which they become known. */
  private final class Records implements RowTable.Rows {
    private final EventCursor events;
    private long count;

    Records(EventCursor events) {
      this.events = events;
    }

    @Override
    public int next(DuckDBDataChunkWriter chunk, int row) throws SQLException {
      while (records.isEmpty() && !ended) {
        ArchivedEvent event = events.next();
        if (event == null) {
          finish();
        } else {
          add(event);
        }
      }
      if (records.isEmpty()) {
        return -1;
      }
      Record record = records.remove();
      chunk.vector(0).setLong(row, record.timeNs);
      chunk.vector(1).setLong(row, count++);
      chunk.vector(2).setString(row, record.text);
      return RECORD_BYTES + record.text.length();
    }
  }

  private void add(ArchivedEvent event) {
    clock.advance(event.timeNs());
    long nowNs = clock.nowNs();
    ParaverThreads.ThreadObject thread = threads.of(event, nowNs);
    if (thread == null) {
      counts.add("beyond_max_tracks", 1);
      return;
    }
    ArchivedType type = event.type();
    boolean isHalf = open.isHalf(type);
    StringBuilder text = new StringBuilder("2:").append(thread.place).append(':').append(nowNs);
    types.append(text, event, isHalf);
    records.add(new Record(nowNs, text.toString()));
    if (isHalf && type.isStart()) {
      start(event, thread);
    } else if (isHalf) {
      end(event, thread);
    }
  }

  private void start(ArchivedEvent event, ParaverThreads.ThreadObject thread) {
    if (open.isReversed(event)) {
      return;
    }
    ParaverState state = states.computeIfAbsent(event.type().operation(), ParaverState::during);
    open.open(event, new Running(thread, thread.begin(state), clock.nowNs()));
    turn(thread);
    for (OpenPairs.Open<Running> old = open.giveUp(); old != null; old = open.giveUp()) {
      stop(old.kept);
    }
    communicate(event, thread, 0);
  }

  private void end(ArchivedEvent event, ParaverThreads.ThreadObject thread) {
    OpenPairs.Open<Running> started = open.close(event);
    if (started == null) {
      return;
    }
    stop(started.kept);
    communicate(event, thread, started.kept.sinceNs);
    String id = event.id();
    if (id != null) {
      steps.put(ShortText.of(id), new Step(event.incarnation(), thread.place, clock.nowNs(), nbytes(event)));
      if (steps.size() > options.maxOpen()) {
        steps.remove(steps.keySet().iterator().next());
      }
    }
  }

  private void stop(Running running) {
    running.thread.end(running.operation);
    turn(running.thread);
  }

  private void turn(ParaverThreads.ThreadObject thread) {
    addState(thread.sinceNs(), thread.turn(clock.nowNs()));
  }

  private void addState(long sinceNs, String state) {
    if (state != null) {
      records.add(new Record(sinceNs, state));
    }
  }

  /** Adds the communication from the last step of the id, if that ended in another process since this time. */
  private void communicate(ArchivedEvent event, ParaverThreads.ThreadObject thread, long sinceNs) {
    String id = event.id();
    Step sent = id == null ? null : steps.get(ShortText.of(id));
    if (sent == null || sent.incarnation.equals(event.incarnation()) || sent.endNs < sinceNs) {
      return;
    }
    steps.remove(ShortText.of(id));
    counts.add("communications", 1);
    long nowNs = clock.nowNs();
    records.add(new Record(sent.endNs, "3:" + sent.place + ":" + sent.endNs + ":" + sent.endNs + ":" + thread.place
        + ":" + nowNs + ":" + nowNs + ":" + sent.nbytes + ":" + tag(id)));
  }

  private static long nbytes(ArchivedEvent event) {
    for (int i = 0; i < event.values().length; i++) {
      if (event.type().members().get(i).name().equals("nbytes") && event.values()[i] instanceof Long nbytes) {
        return Math.max(nbytes, 0);
      }
    }
    return 0;
  }

  /** Returns a short number, if possible the id itself. */
  private static int tag(String id) {
    try {
      int number = Integer.parseInt(id);
      return number >= 0 ? number : id.hashCode() & Integer.MAX_VALUE;
    } catch (NumberFormatException e) {
      return id.hashCode() & Integer.MAX_VALUE;
    }
  }

  private void finish() {
    ended = true;
    open.finish();
    for (ParaverThreads.ThreadObject thread : threads.all()) {
      addState(thread.sinceNs(), thread.finish(clock.nowNs()));
    }
  }
}
