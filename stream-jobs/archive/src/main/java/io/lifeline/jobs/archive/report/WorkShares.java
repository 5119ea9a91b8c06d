package io.lifeline.jobs.archive.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Computes for how much of a copy's time each stage was at work, not counting waits for its neighbours.
 *
 * <p>A copy is a pipeline of workers with bounded queues between them: read, send, (the network,) receive, write. An
 * operation takes long either because its stage is slow, or because it waits for a neighbour; a send that blocks
 * because the receiver's disk is slow looks like a slow network. The disk operations wait outside their pairs of
 * events. For the network, lifelines distinguish the two (NetLogger, HPDC 2002, section 4.0: the time between the
 * events of one block, not the events alone), because <b>blocks queue before the slowest stage</b>:
 *
 * <ul>
 *   <li>While a receive is in progress, the network is at work: its start means that the block has begun to arrive.
 *   <li>While no receive is in progress but a block is being sent, the network is at work (the block is in transit)
 *       unless it waits for the receiver: received blocks wait to be written, or the receiver's socket has unread bytes
 *       ({@code net.socket}), so it has no free block to receive into.
 * </ul>
 *
 * <p>The programs' own work ({@link Stage#CPU}) is the rest: blocks wait while the worker that should take them runs no
 * operation, or nothing is in progress at all.
 *
 * <p>All stages move the same bytes, so the stage that is at work for the largest part of the time has the lowest bytes
 * per second of work. This is the rule of papers/003 (Kissel et al., section IV.C, {@code tput_i}) without the waits
 * inside network calls, which made that rule fail when buffers were large.
 *
 * <p>The sender's and receiver's clocks are compared only coarsely, to determine that a block is in transit while
 * others wait to be written; a skew much smaller than the time that blocks wait is harmless.
 */
final class WorkShares {
  private static final int WAIT_FOR_SEND = 0;
  private static final int WAIT_FOR_WRITE = 1;
  private static final int READING = 2;
  private static final int SENDING = 3;
  private static final int UNDER_WAY = 4;
  private static final int RECEIVING = 5;
  private static final int WRITING = 6;
  private static final int UNREAD = 7;
  private static final int COUNTERS = 8;

  /** A slice of a run: its length, and for how much of it each stage was at work, by {@link Stage#ordinal}. */
  static final class Slice {
    double lengthNs;
    final double[] workNs = new double[Stage.values().length];
  }

  private record Change(long timeNs, int counter, int delta) {}

  private WorkShares() {}

  /** Cuts the run of each pipeline (a sending and a receiving thread) into slices of equal length. */
  static List<Slice> slices(List<Lifeline> lifelines, int slicesPerPipeline) {
    Map<String, List<Lifeline>> pipelines = new LinkedHashMap<>();
    for (Lifeline lifeline : lifelines) {
      pipelines.computeIfAbsent(lifeline.sender() + " " + lifeline.receiver(), key -> new ArrayList<>()).add(lifeline);
    }
    List<Slice> slices = new ArrayList<>();
    pipelines.values().forEach(pipeline -> slices.addAll(pipelineSlices(pipeline, slicesPerPipeline)));
    return slices;
  }

  private static List<Slice> pipelineSlices(List<Lifeline> pipeline, int count) {
    List<Change> changes = changes(pipeline);
    List<Slice> slices = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      slices.add(new Slice());
    }
    long first = changes.get(0).timeNs;
    double sliceNs = Math.max(1, (double) (changes.get(changes.size() - 1).timeNs - first) / count);
    int[] counters = new int[COUNTERS];
    long from = first;
    for (Change change : changes) {
      if (change.timeNs > from) {
        spread(slices, sliceNs, from - first, change.timeNs - first, counters);
        from = change.timeNs;
      }
      counters[change.counter] += change.delta;
    }
    return slices;
  }

  private static boolean atWork(Stage stage, int[] now) {
    return switch (stage) {
      case DISK_READ -> now[READING] > 0;
      case NETWORK -> now[RECEIVING] > 0 || now[UNDER_WAY] > 0 && now[WAIT_FOR_WRITE] == 0 && now[UNREAD] == 0;
      case DISK_WRITE -> now[WRITING] > 0;
      case CPU -> now[WAIT_FOR_WRITE] > 0 && now[WRITING] == 0 || now[WAIT_FOR_SEND] > 0 && now[SENDING] == 0
          || now[READING] + now[UNDER_WAY] + now[WRITING] == 0;
    };
  }

  private static List<Change> changes(List<Lifeline> pipeline) {
    List<Change> changes = new ArrayList<>();
    for (Lifeline block : pipeline) {
      between(changes, READING, block.start(Lifeline.READ), block.end(Lifeline.READ));
      between(changes, WAIT_FOR_SEND, block.end(Lifeline.READ), block.start(Lifeline.SEND));
      between(changes, SENDING, block.start(Lifeline.SEND), block.end(Lifeline.SEND));
      between(changes, UNDER_WAY, block.start(Lifeline.SEND), block.end(Lifeline.RECEIVE));
      between(changes, RECEIVING, block.start(Lifeline.RECEIVE), block.end(Lifeline.RECEIVE));
      between(changes, WAIT_FOR_WRITE, block.end(Lifeline.RECEIVE), block.start(Lifeline.WRITE));
      between(changes, WRITING, block.start(Lifeline.WRITE), block.end(Lifeline.WRITE));
    }
    List<Lifeline> received = new ArrayList<>(pipeline);
    received.sort(Comparator.comparingLong(block -> block.start(Lifeline.RECEIVE)));
    for (int i = 1; i < received.size(); i++) {
      if (received.get(i - 1).unread() > 0) {
        between(changes, UNREAD, received.get(i - 1).end(Lifeline.RECEIVE), received.get(i).start(Lifeline.RECEIVE));
      }
    }
    changes.sort(Comparator.comparingLong(Change::timeNs));
    return changes;
  }

  private static void between(List<Change> changes, int counter, long from, long to) {
    if (to > from) {
      changes.add(new Change(from, counter, 1));
      changes.add(new Change(to, counter, -1));
    }
  }

  /** Adds a period in which nothing changed to the slices that it crosses. */
  private static void spread(List<Slice> slices, double sliceNs, double from, double to, int[] now) {
    int last = slices.size() - 1;
    int index = Math.min(last, (int) (from / sliceNs));
    while (from < to) {
      double end = index == last ? to : Math.min(to, (index + 1) * sliceNs);
      Slice slice = slices.get(index);
      slice.lengthNs += Math.max(0, end - from);
      for (Stage stage : Stage.values()) {
        slice.workNs[stage.ordinal()] += atWork(stage, now) ? Math.max(0, end - from) : 0;
      }
      from = Math.max(from, end);
      index = Math.min(last, index + 1);
    }
  }
}
