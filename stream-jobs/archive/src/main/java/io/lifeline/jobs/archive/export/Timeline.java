package io.lifeline.jobs.archive.export;

import io.lifeline.codec.FieldType;
import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.ArchivedType;
import java.io.IOException;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Places events on tracks. {@code X.start} and {@code X.end} become a slice on a lane named X of the thread that
 * started it, so slices of a lane never overlap; numbers of sampled types become counters of their process; other
 * events become moments on their thread. Starts and moments with the same id share a flow, which connects them across
 * processes.
 */
final class Timeline {
  /** Numbers with these names identify what a sample is of. */
  private static final Set<String> LABELS = Set.of("id", "cpu");

  /** A place on a lane. */
  private record Slice(Lanes lanes, int lane) {}

  private final TimelineSink sink;
  private final TraceClock clock;
  private final ExportOptions options;
  private final Tracks tracks;
  private final OpenPairs<Slice> open;
  private final Counts counts;
  private final Map<ArchivedType, Boolean> sampled = new IdentityHashMap<>();

  Timeline(TimelineSink sink, TraceClock clock, ExportOptions options, Set<String> types, Counts counts) {
    this.sink = sink;
    this.clock = clock;
    this.options = options;
    this.tracks = new Tracks(sink, options.maxTracks());
    this.open = new OpenPairs<>(options.maxOpen(), types, counts);
    this.counts = counts;
  }

  /** Adds an event that is not earlier than the previous one. */
  void add(ArchivedEvent event) throws IOException {
    clock.advance(event.timeNs());
    ArchivedType type = event.type();
    if (sampled.computeIfAbsent(type, this::isSampled)) {
      count(event);
    } else if (!open.isHalf(type)) {
      mark(event);
    } else if (type.isStart()) {
      start(event);
    } else {
      end(event);
    }
  }

  private boolean isSampled(ArchivedType type) {
    return options.counters().stream().anyMatch(glob -> glob.matches(type.name()))
        && type.members().stream().anyMatch(Timeline::isCounted);
  }

  private static boolean isCounted(ArchivedType.Member member) {
    return !member.type().isVariable() && member.type() != FieldType.BOOL && !LABELS.contains(member.name());
  }

  private void count(ArchivedEvent event) throws IOException {
    List<ArchivedType.Member> members = event.type().members();
    StringBuilder label = new StringBuilder();
    for (int i = 0; i < members.size(); i++) {
      if (!isCounted(members.get(i))) {
        label.append(' ').append(event.values()[i]);
      }
    }
    for (int i = 0; i < members.size(); i++) {
      Object value = event.values()[i];
      if (isCounted(members.get(i)) && value != null && JsonText.isFinite(value)) {
        Track counter = tracks.counter(event, members.get(i), ShortText.of(label.toString()));
        if (counter == null) {
          leaveOut();
        } else {
          sink.count(counter, event, i);
        }
      }
    }
  }

  private void mark(ArchivedEvent event) throws IOException {
    Track thread = tracks.thread(event);
    if (thread == null) {
      leaveOut();
    } else {
      sink.instant(thread, event, flow(event));
    }
  }

  private void start(ArchivedEvent event) throws IOException {
    Lanes lanes = open.isReversed(event) ? null : tracks.lanes(event);
    int lane = lanes == null ? -1 : lanes.take();
    if (lane < 0) {
      mark(event);
      return;
    }
    open.open(event, new Slice(lanes, lane));
    sink.begin(lanes.track(lane), event, flow(event));
    for (OpenPairs.Open<Slice> old = open.giveUp(); old != null; old = open.giveUp()) {
      finish(old.kept, null);
    }
  }

  private void end(ArchivedEvent event) throws IOException {
    OpenPairs.Open<Slice> started = open.close(event);
    if (started == null) {
      mark(event);
    } else {
      finish(started.kept, event);
    }
  }

  private void finish(Slice slice, ArchivedEvent end) throws IOException {
    sink.end(slice.lanes.track(slice.lane), end);
    slice.lanes.release(slice.lane);
  }

  private void leaveOut() {
    counts.add("beyond_max_tracks", 1);
  }

  /** Returns a number of the lifeline: a hash of its id, never 0. */
  private static long flow(ArchivedEvent event) {
    String id = event.id();
    if (id == null) {
      return 0;
    }
    long hash = 0;
    for (int i = 0; i < id.length(); i++) {
      hash = mixed(hash + id.charAt(i) + 1);
    }
    return hash == 0 ? 1 : hash;
  }

  /** Vigna's finaliser of SplitMix64: every bit of the result depends on every bit of the sum. */
  private static long mixed(long sum) {
    long z = sum + 0x9e3779b97f4a7c15L;
    z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
    z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
    return z ^ z >>> 31;
  }

  /** Slices that are still open stay so in the trace. */
  void finish() {
    open.finish();
  }
}
