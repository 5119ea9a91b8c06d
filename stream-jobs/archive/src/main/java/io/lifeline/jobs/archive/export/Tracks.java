package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.ArchivedType;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Creates tracks as events need them, up to a limit. A process is an incarnation of an emitter: different hosts, and
 * programs after a restart, may have equal pids. Viewers tell processes and threads by their numbers alone, so that a
 * number that is taken, or is none of Linux, is replaced by one beyond those of Linux.
 */
final class Tracks {
  /** PID_MAX_LIMIT of 64-bit Linux. */
  private static final int MAX_PID = 1 << 22;

  private record ThreadKey(String incarnation, long thread) {}

  private record LanesKey(Track thread, String operation) {}

  private record CounterKey(Track process, String type, String member, String label) {}

  private final TimelineSink sink;
  private final int maxTracks;
  private final Map<String, Track> processes = new HashMap<>();
  private final Map<ThreadKey, Track> threads = new HashMap<>();
  private final Map<LanesKey, Lanes> lanes = new HashMap<>();
  private final Map<CounterKey, Track> counters = new HashMap<>();
  private final Set<Integer> numbers = new HashSet<>();
  private final Set<Integer> mainThreads = new HashSet<>();
  private int nextNumber = MAX_PID;
  private int count;

  Tracks(TimelineSink sink, int maxTracks) {
    this.sink = sink;
    this.maxTracks = maxTracks;
  }

  /** Returns the track of the event's process; null if no more tracks are allowed, as for the other methods. */
  Track process(ArchivedEvent event) throws IOException {
    Track process = processes.get(event.incarnation());
    if (process == null) {
      String name =
          ShortText.of(event.program()) + " (" + ShortText.of(event.host()) + ", pid " + event.pid() + ")";
      process = added(Track.Kind.PROCESS, null, number(event.pid(), 0), 0, name, "");
      if (process != null) {
        processes.put(event.incarnation(), process);
      }
    }
    return process;
  }

  /** Returns the track of the event's thread. */
  Track thread(ArchivedEvent event) throws IOException {
    ThreadKey key = new ThreadKey(event.incarnation(), event.thread());
    Track thread = threads.get(key);
    if (thread == null) {
      Track process = process(event);
      thread = process == null ? null : added(Track.Kind.THREAD, process, process.pid(),
          number(event.thread(), process.pid()), "thread " + Long.toUnsignedString(event.thread()), "");
      if (thread != null) {
        threads.put(key, thread);
      }
    }
    return thread;
  }

  /** Returns the lanes of the event's operation in its thread. */
  Lanes lanes(ArchivedEvent event) throws IOException {
    Track thread = thread(event);
    return thread == null ? null : lanes.computeIfAbsent(
        new LanesKey(thread, event.type().operation()), key -> new Lanes(this, thread, key.operation()));
  }

  /** Returns a new lane. */
  Track lane(Track thread, String operation) throws IOException {
    return added(Track.Kind.LANE, thread, thread.pid(), number(0, 0), operation, "");
  }

  /** Returns the track of a member of samples. */
  Track counter(ArchivedEvent event, ArchivedType.Member member, String label) throws IOException {
    Track process = process(event);
    if (process == null) {
      return null;
    }
    CounterKey key = new CounterKey(process, event.type().name(), member.name(), label);
    Track counter = counters.get(key);
    if (counter == null) {
      counter = added(Track.Kind.COUNTER, process, process.pid(), 0,
          event.type().name() + " " + member.name() + label, member.unit());
      if (counter != null) {
        counters.put(key, counter);
      }
    }
    return counter;
  }

  /** @param pid of the thread's process, which its main thread shares; 0 for others */
  private int number(long wanted, int pid) {
    boolean free = wanted > 0 && wanted <= MAX_PID
        && (numbers.add((int) wanted) || wanted == pid && mainThreads.add(pid));
    return free ? (int) wanted : ++nextNumber;
  }

  private Track added(Track.Kind kind, Track parent, int pid, int tid, String name, String unit) throws IOException {
    if (count == maxTracks) {
      return null;
    }
    Track track = new Track(kind, ++count, parent, pid, tid, name, unit);
    sink.declare(track);
    return track;
  }
}
