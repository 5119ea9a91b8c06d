package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The operations of one emitter: those in progress, and those that ended in incomplete intervals. */
final class Operations {

  /** Number of intervals by which one thread's events may arrive later than another's. */
  static final int PATIENCE = 3;

  /** Maximum number of operations in progress; beyond it, the oldest are forgotten. */
  private static final int MAX_OPEN = 4096;

  /** Maximum number of incomplete bins; beyond it, the oldest are completed early. */
  private static final int MAX_BINS = 4096;

  private static final int LAYOUT = 2;

  private record Open(String operation, long thread, long id) {}

  private record Place(long startNs, String component) implements Comparable<Place> {
    @Override
    public int compareTo(Place other) {
      int byTime = Long.compare(startNs, other.startNs);
      return byTime != 0 ? byTime : component.compareTo(other.component);
    }
  }

  private final long intervalNs;
  private final LinkedHashMap<Open, Long> starts = new LinkedHashMap<>();
  private final TreeMap<Place, Bin> bins = new TreeMap<>();
  private final TreeMap<String, Report> reports = new TreeMap<>();
  private final List<Sample> completed = new ArrayList<>();
  private String group = "";
  private String emitter = "";
  private long lastMs;
  private long newestNs = Long.MIN_VALUE;
  private long passedNs = Long.MIN_VALUE;

  Operations(BottleneckSettings settings) {
    this.intervalNs = settings.intervalNs();
  }

  void belongTo(String newGroup, String incarnation, long brokerTimeMs) {
    group = newGroup;
    emitter = incarnation;
    lastMs = brokerTimeMs;
  }

  long lastMs() {
    return lastMs;
  }

  void start(String operation, long thread, long id, long timeNs) {
    starts.put(new Open(operation, thread, id), timeNs);
    if (starts.size() > MAX_OPEN) {
      Iterator<Open> oldest = starts.keySet().iterator();
      oldest.next();
      oldest.remove();
    }
  }

  /** Returns false if the start is unknown or the interval is complete. Operations without bytes are ignored. */
  boolean end(String operation, String component, long thread, long id, long timeNs, double bytes) {
    Long startNs = starts.remove(new Open(operation, thread, id));
    if (reports.containsKey(operation)) {
      return true;
    }
    long binStartNs = Math.floorDiv(timeNs, intervalNs) * intervalNs;
    if (startNs == null || startNs > timeNs || binStartNs < passedNs) {
      return false;
    }
    newestNs = Math.max(newestNs, timeNs);
    if (bytes > 0 && Double.isFinite(bytes)) {
      bins.computeIfAbsent(new Place(binStartNs, component), place -> new Bin(place.startNs()))
          .add(bytes, timeNs - startNs, thread);
    }
    return true;
  }

  void report(String operation, String component, String field, Report.Aspect aspect, long timeNs, long lengthNs) {
    Report report = reports.computeIfAbsent(operation, name -> new Report());
    report.add(field, aspect);
    if (field.equals("value")) {
      Sample sample = report.take(group, component, emitter, timeNs, lengthNs);
      if (sample != null) {
        completed.add(sample);
      }
    }
  }

  /**
   * Removes and returns the complete samples.
   *
   * @param isLast whether no more events are expected in the known intervals
   */
  List<Sample> complete(boolean isLast) {
    while (!bins.isEmpty() && (isLast || bins.size() > MAX_BINS
        || bins.firstKey().startNs() + PATIENCE * intervalNs <= newestNs)) {
      Map.Entry<Place, Bin> first = bins.pollFirstEntry();
      passedNs = Math.max(passedNs, first.getKey().startNs() + intervalNs);
      completed.add(first.getValue().sample(group, first.getKey().component(), emitter, intervalNs));
    }
    List<Sample> taken = List.copyOf(completed);
    completed.clear();
    return taken;
  }

  byte[] encode() {
    StateWriter out = new StateWriter().version(LAYOUT).text(group).text(emitter).varint(lastMs);
    out.fixed64(newestNs).fixed64(passedNs).varint(starts.size());
    starts.forEach((open, startNs) ->
        out.text(open.operation).zigzag(open.thread).zigzag(open.id).zigzag(startNs));
    out.varint(bins.size());
    bins.forEach((place, bin) -> bin.encode(out.text(place.component)));
    out.varint(reports.size());
    reports.forEach((operation, report) -> report.encode(out.text(operation)));
    return out.toBytes();
  }

  static Operations decode(BottleneckSettings settings, byte[] bytes) {
    StateReader in = new StateReader(bytes).version(LAYOUT);
    Operations operations = new Operations(settings);
    operations.belongTo(in.text(), in.text(), in.varint());
    operations.newestNs = in.fixed64();
    operations.passedNs = in.fixed64();
    for (int left = in.count(4); left > 0; left--) {
      operations.starts.put(new Open(in.text(), in.zigzag(), in.zigzag()), in.zigzag());
    }
    for (int left = in.count(2); left > 0; left--) {
      String component = in.text();
      Bin bin = Bin.decode(in);
      operations.bins.put(new Place(bin.startNs(), component), bin);
    }
    for (int left = in.count(2); left > 0; left--) {
      operations.reports.put(in.text(), Report.decode(in));
    }
    return operations;
  }
}
