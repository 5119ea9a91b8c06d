package io.lifeline.jobs.core.bottleneck;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Simulates a pipeline whose stages are pools of threads with a bounded queue before each, so that all waits result
 * from the service times. Blocks wait in queues outside the measured operations.
 */
final class Pools {

  private static final double BLOCK_BYTES = 1 << 16;
  private static final String[] COMPONENTS = {"a", "b", "c", "d"};

  /** Returns the milliseconds of one operation that begins at that time. */
  @FunctionalInterface
  interface Service {
    double milliseconds(double nowMs);
  }

  /** One stage: a pool of threads that take blocks from one queue, or one queue each. */
  static final class Stage {
    private final Service service;
    private final double[] free;
    private double share;
    private boolean hasLock;
    private double unlockedMs;
    private boolean isMeasured = true;
    private boolean areThreadsKnown = true;
    private double pauseMs;
    private int pauseBlocks = Integer.MAX_VALUE;
    private boolean isClosedLoop;
    private final List<List<Double>> begun = new ArrayList<>();

    private Stage(int threads, Service service) {
      this.service = service;
      this.free = new double[threads];
    }

    /** The first thread gets that share of the blocks, and each thread has a queue of its own. */
    Stage skewed(double toFirst) {
      share = toFirst;
      return this;
    }

    /** Only one thread works at a time; the others wait within their operations. */
    Stage locked() {
      hasLock = true;
      return this;
    }

    Stage unmeasured() {
      isMeasured = false;
      return this;
    }

    /** Its emitter does not report the number of threads. */
    Stage old() {
      areThreadsKnown = false;
      return this;
    }

    /** A first stage that waits that long after so many blocks. */
    Stage bursts(int blocks, double milliseconds) {
      pauseBlocks = blocks;
      pauseMs = milliseconds;
      return this;
    }

    /** A first stage that begins a block when the previous one is at the end of the pipeline. */
    Stage closedLoop() {
      isClosedLoop = true;
      return this;
    }

    private int threadFor(Random random) {
      if (share > 0) {
        return random.nextDouble() < share ? 0 : 1 + random.nextInt(free.length - 1);
      }
      int first = 0;
      for (int i = 1; i < free.length; i++) {
        first = free[i] < free[first] ? i : first;
      }
      return first;
    }
  }

  private record Operation(int stage, int thread, long id, double startMs, double endMs) {}

  private final Random random = new Random(7);
  private final int queue;
  private final Stage[] stages;
  private final List<Operation> operations = new ArrayList<>();
  private final Operations observed =
      new Operations(new BottleneckSettings(Map.of(), "all", 1_000_000_000L, 0, 0, 1));
  private long blocks;
  private double lastEndMs;

  /** @param queue blocks between two stages */
  Pools(int queue, Stage... stages) {
    this.queue = queue;
    this.stages = stages;
    Arrays.stream(stages).forEach(
        stage -> {
          for (int i = 0; i < stage.free.length; i++) {
            stage.begun.add(new ArrayList<>());
          }
        });
    observed.belongTo("g", "e", 0);
  }

  static Stage stage(int threads, double milliseconds) {
    Random random = new Random(threads * 31L + (long) (milliseconds * 100));
    return new Stage(threads, now -> milliseconds * (0.9 + 0.2 * random.nextDouble()));
  }

  static Stage stage(int threads, Service service) {
    return new Stage(threads, service);
  }

  /** Returns service times that alternate between two values. */
  static Service alternating(double first, double second, double periodMs) {
    Random random = new Random(5);
    return now -> ((long) (now / periodMs) % 2 == 0 ? first : second) * (0.9 + 0.2 * random.nextDouble());
  }

  /** Returns service times with a stall of one operation every so often. */
  static Service stalling(double milliseconds, double everyMs, double stallMs) {
    double[] next = {everyMs};
    Random random = new Random(6);
    return now -> {
      boolean isStall = now >= next[0];
      next[0] = isStall ? now + everyMs : next[0];
      return milliseconds * (0.9 + 0.2 * random.nextDouble()) + (isStall ? stallMs : 0);
    };
  }

  private void moveBlock() {
    double arrivedMs = stages[0].isClosedLoop ? lastEndMs : 0;
    Stage before = null;
    int beforeThread = 0;
    for (int i = 0; i < stages.length; i++) {
      Stage stage = stages[i];
      int thread = stage.threadFor(random);
      List<Double> begun = stage.begun.get(stage.share > 0 ? thread : 0);
      // The previous stage's thread puts the block into the queue as soon as that has room, and is free then.
      double putMs = begun.size() < queue ? arrivedMs : Math.max(arrivedMs, begun.get(begun.size() - queue));
      if (before != null) {
        before.free[beforeThread] = putMs;
      }
      double startMs = Math.max(putMs, stage.free[thread]);
      if (i == 0 && blocks % stage.pauseBlocks == 0) {
        startMs += stage.pauseMs;
      }
      begun.add(startMs);
      double workMs = stage.service.milliseconds(startMs);
      double endMs = (stage.hasLock ? Math.max(startMs, stage.unlockedMs) : startMs) + workMs;
      stage.unlockedMs = endMs;
      stage.free[thread] = endMs;
      operations.add(new Operation(i, thread, blocks, startMs, endMs));
      arrivedMs = endMs;
      before = stage;
      beforeThread = thread;
    }
    lastEndMs = arrivedMs;
    blocks++;
  }

  /** Runs until that second and returns the samples that are complete by then, in order of time. */
  List<Sample> runTo(double second) {
    while (Arrays.stream(stages[0].free).min().orElseThrow() < second * 1000) {
      moveBlock();
    }
    operations.sort(Comparator.comparingDouble(Operation::endMs));
    List<Operation> ended = operations.stream().filter(operation -> operation.endMs <= second * 1000).toList();
    operations.subList(0, ended.size()).clear();
    for (Operation operation : ended) {
      String name = COMPONENTS[operation.stage];
      if (stages[operation.stage].isMeasured) {
        observed.start(name, operation.thread, operation.id, (long) (operation.startMs * 1e6));
        observed.end(name, name, operation.thread, operation.id, (long) (operation.endMs * 1e6), BLOCK_BYTES);
      }
    }
    return observed.complete(false).stream().map(this::asReported).toList();
  }

  private Sample asReported(Sample sample) {
    boolean areThreadsKnown = stages[Arrays.asList(COMPONENTS).indexOf(sample.component())].areThreadsKnown;
    return areThreadsKnown
        ? sample
        : new Sample(sample.group(), sample.component(), sample.emitter(), sample.endNs(), sample.intervalNs(),
            sample.count(), sample.bytes(), sample.busyNs(), sample.busyVariance(), 0);
  }
}
