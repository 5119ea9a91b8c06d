package io.lifeline.jobs.archive.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * One block's path through a copy.
 *
 * @param times times of its eight events, in the order of {@link #EVENTS}
 * @param unread unread bytes in the receiver's socket after the block was received; 0 if not sampled
 */
record Lifeline(String id, String sender, String receiver, long[] times, long unread) {
  /** The operations on a block, in order. */
  static final List<String> WAY = List.of("disk.read", "net.send", "net.receive", "disk.write");

  static final int READ = 0;
  static final int SEND = 1;
  static final int RECEIVE = 2;
  static final int WRITE = 3;

  /** The names of the events, in the order of {@link #times}. */
  static final List<String> EVENTS = events();

  private static List<String> events() {
    List<String> events = new ArrayList<>();
    WAY.forEach(operation -> events.addAll(List.of(operation + ".start", operation + ".end")));
    return List.copyOf(events);
  }

  long start(int operation) {
    return times[2 * operation];
  }

  long end(int operation) {
    return times[2 * operation + 1];
  }

  /**
   * Returns the lifelines of all blocks that have every event, ordered by the first event.
   *
   * @param unread result of {@link SocketSamples#unread}
   */
  static List<Lifeline> of(Map<String, List<Operation>> operations, Map<String, Long> unread) {
    Map<String, Operation[]> blocks = new HashMap<>();
    for (int i = 0; i < WAY.size(); i++) {
      for (Operation operation : operations.getOrDefault(WAY.get(i), List.of())) {
        // Two sessions may number their blocks alike.
        String block = operation.id() + " " + operation.repeat() + " " + operation.origin().session();
        blocks.computeIfAbsent(block, key -> new Operation[WAY.size()])[i] = operation;
      }
    }
    List<Lifeline> lifelines = new ArrayList<>();
    for (Operation[] way : blocks.values()) {
      if (Arrays.stream(way).allMatch(operation -> operation != null)) {
        long[] times = Arrays.stream(way).flatMapToLong(
            operation -> LongStream.of(operation.startNs(), operation.endNs())).toArray();
        String receiver = way[RECEIVE].origin().actor();
        lifelines.add(new Lifeline(way[READ].id(), way[SEND].origin().actor(), receiver, times,
            unread.getOrDefault(SocketSamples.key(receiver, way[READ].id()), 0L)));
      }
    }
    lifelines.sort(Comparator.comparingLong(lifeline -> lifeline.start(READ)));
    return lifelines;
  }
}
