package io.lifeline.jobs.archive.report;

import java.util.ArrayList;
import java.util.Arrays;
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
 * <p>This shows where blocks wait. Which stage is the bottleneck is for the rule of the job {@code bottleneck} to say:
 * see {@link Bottlenecks}.
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

  private record Change(long timeNs, int counter, int delta) {}

  private WorkShares() {}

  /** Returns the share of each stage, by {@link Stage#ordinal}; null without lifelines. */
  static double[] of(List<Lifeline> lifelines) {
    Map<String, List<Lifeline>> pipelines = new LinkedHashMap<>();
    for (Lifeline lifeline : lifelines) {
      pipelines.computeIfAbsent(lifeline.sender() + " " + lifeline.receiver(), key -> new ArrayList<>()).add(lifeline);
    }
    double[] workNs = new double[Stage.values().length];
    double lengthNs = 0;
    for (List<Lifeline> pipeline : pipelines.values()) {
      lengthNs += add(changes(pipeline), workNs);
    }
    double allNs = lengthNs;
    return allNs == 0 ? null : Arrays.stream(workNs).map(ns -> ns / allNs).toArray();
  }

  /** Adds the work of one pipeline (a sending and a receiving thread); returns the time that it ran. */
  private static double add(List<Change> changes, double[] workNs) {
    int[] counters = new int[COUNTERS];
    long firstNs = changes.isEmpty() ? 0 : changes.get(0).timeNs;
    long fromNs = firstNs;
    for (Change change : changes) {
      for (Stage stage : Stage.values()) {
        workNs[stage.ordinal()] += atWork(stage, counters) ? change.timeNs - fromNs : 0;
      }
      fromNs = change.timeNs;
      counters[change.counter] += change.delta;
    }
    return fromNs - firstNs;
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
}
