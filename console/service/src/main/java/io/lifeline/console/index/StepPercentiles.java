package io.lifeline.console.index;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The durations of the steps that take the most time, by part of a span. Of a span with more than
 * {@value #MOST_EVENTS} events, one block in so many is looked at: count, total and greatest duration of each kind are
 * those of all events nevertheless.
 */
public final class StepPercentiles {
  static final int MOST_EVENTS = 2_000_000;

  /**
   * The steps of one kind.
   *
   * @param durations of each part; empty without a step that ends in it
   */
  public record Row(Steps.Kind kind, List<Durations> durations) {}

  /** @param oneIn of so many events one was looked at */
  public record Found(List<Row> rows, int oneIn) {}

  private final List<Steps.Kind> kinds;
  private final LongArrayList[][] durations;
  private final int oneIn;

  private StepPercentiles(Snapshot snapshot, Span span, int most, int parts) {
    kinds = Steps.of(snapshot, span, null).stream().limit(most).toList();
    durations = new LongArrayList[kinds.size()][parts];
    Long2IntOpenHashMap rows = new Long2IntOpenHashMap();
    rows.defaultReturnValue(EventColumns.NONE);
    for (int i = 0; i < kinds.size(); i++) {
      rows.put(BlockSummary.pair(kinds.get(i).from(), kinds.get(i).to()), i);
    }
    IntArrayList blocks = new IntArrayList();
    for (int block = 0; block < snapshot.blocks.size(); block++) {
      if (snapshot.blocks.get(block).hasEventsIn(span.from(), span.to())) {
        blocks.add(block);
      }
    }
    int mostBlocks = MOST_EVENTS / BlockSummary.EVENTS;
    oneIn = Math.max(1, (blocks.size() + mostBlocks - 1) / mostBlocks);
    for (int i = 0; i < blocks.size(); i += oneIn) {
      snapshot.forEachIn(blocks.getInt(i), span, any -> true, (event, time) -> add(snapshot, span, rows, event, time));
    }
  }

  private void add(Snapshot snapshot, Span span, Long2IntOpenHashMap rows, int event, long time) {
    EventColumns events = snapshot.events;
    int previous = events.object(event) == EventColumns.NONE ? EventColumns.NONE : events.previous(event);
    int row = previous == EventColumns.NONE ? EventColumns.NONE
        : rows.get(BlockSummary.pair(events.type(previous), events.type(event)));
    if (row == EventColumns.NONE) {
      return;
    }
    int part = span.part(time, durations[row].length);
    if (durations[row][part] == null) {
      durations[row][part] = new LongArrayList();
    }
    durations[row][part].add(time - events.time(previous));
  }

  /** Sorts, which takes longest, while others may add to the index. */
  private Found sorted() {
    List<Row> found = new ArrayList<>();
    for (int row = 0; row < durations.length; row++) {
      found.add(new Row(kinds.get(row), Arrays.stream(durations[row]).map(StepPercentiles::sorted).toList()));
    }
    return new Found(found, oneIn);
  }

  private static Durations sorted(LongArrayList durations) {
    long[] all = durations == null ? new long[0] : durations.toLongArray();
    Arrays.sort(all);
    return new Durations(all);
  }

  /** Returns at most so many kinds, the one with the greatest total first. */
  public static Found of(TraceIndex index, Span span, int most, int parts) {
    return index.read(snapshot -> new StepPercentiles(snapshot, span, most, parts)).sorted();
  }
}
