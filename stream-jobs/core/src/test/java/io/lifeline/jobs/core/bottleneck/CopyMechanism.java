package io.lifeline.jobs.core.bottleneck;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * Simulates a copy with a known bottleneck. In each of its streams, blocks pass through a read, a network, a compute
 * and a write stage, which run concurrently with bounded queues between them, so that all waits result from the service
 * times. The output is that of an instrumented program: start and end of each operation.
 */
final class CopyMechanism {

  private static final double BLOCK_BYTES = 1 << 20;
  private static final int STAGES = 4;

  /** Mean reversion per block: at a few hundred blocks per second, speeds revert to the mean within seconds. */
  private static final double DRIFT_RETURN = 0.002;

  private static final int READ = 0;
  private static final int NETWORK = 1;
  private static final int COMPUTE = 2;
  private static final int WRITE = 3;
  private static final String[] OPERATIONS = {"disk.read", "net.receive", null, "disk.write"};
  private static final String[] COMPONENTS = {"disk-read", "network", null, "disk-write"};

  /** Service times in milliseconds, by stage; changes take effect with the next block. */
  static final class Speeds {
    double read = 5;
    double network = 5;
    double compute = 0.5;
    double write = 5;

    /** Share of the network's reads whose wait is not measured, as with UDT and loss. */
    double hidden;

    /** Share of the writes that go to memory and take almost no time; the others take longer to compensate. */
    double cached;

    Speeds set(String component, double milliseconds) {
      switch (component) {
        case "disk-read" -> read = milliseconds;
        case "network" -> network = milliseconds;
        case "disk-write" -> write = milliseconds;
        default -> throw new IllegalArgumentException(component);
      }
      return this;
    }
  }

  /** Distribution of the service times around their mean. */
  enum Shape {
    UNIFORM,
    GAMMA,
    SPIKES,
    PARETO,
    BIMODAL;

    double draw(Random random) {
      return switch (this) {
        case UNIFORM -> 0.5 + random.nextDouble();
        case GAMMA -> -(Math.log(1 - random.nextDouble()) + Math.log(1 - random.nextDouble())) / 2;
        case SPIKES -> random.nextInt(40) == 0 ? 10 : 0.7 + random.nextDouble() * 0.13;
        case PARETO -> 0.6 * Math.pow(1 - random.nextDouble(), -0.4);
        case BIMODAL -> (random.nextBoolean() ? 0.4 : 1.6) * (0.9 + 0.2 * random.nextDouble());
      };
    }
  }

  private record Operation(int stage, int stream, long id, double startMs, double endMs) {}

  /** One of the copy's streams, with the times at which its stages completed the newest blocks. */
  private final class Stream {
    private final int number;
    private final double[][] done = new double[STAGES][queue + 1];
    private long blocks;

    Stream(int number) {
      this.number = number;
    }

    double now() {
      return done(READ, blocks - 1);
    }

    private double done(int stage, long block) {
      return block < 0 ? 0 : done[stage][(int) (block % (queue + 1))];
    }

    /** A stage starts a block when it has arrived, the stage is free, and the next queue has room. */
    private double start(int stage, double arrived) {
      double free = done(stage, blocks - 1);
      double room = stage + 1 < STAGES && blocks >= queue ? done(stage + 1, blocks - queue) : 0;
      return Math.max(arrived, Math.max(free, room));
    }

    private double pass(int stage, double arrived, double milliseconds) {
      double start = start(stage, arrived);
      done[stage][(int) (blocks % (queue + 1))] = start + milliseconds;
      return start;
    }

    void moveBlock() {
      double arrived = 0;
      for (int stage = 0; stage < STAGES; stage++) {
        double took = serviceMs(stage);
        double start = pass(stage, arrived, took);
        arrived = start + took;
        boolean isHidden = stage == NETWORK && random.nextDouble() < speeds.hidden;
        double seen = isHidden ? took * (0.02 + 0.06 * random.nextDouble()) : took;
        operations.add(new Operation(stage, number, blocks, arrived - seen, arrived));
      }
      blocks++;
    }
  }

  private final Random random;
  private final Shape shape;
  private final int queue;
  private final double drift;
  private final double[] drifts = new double[STAGES];
  private final Speeds speeds = new Speeds();
  private final List<Stream> streams = new ArrayList<>();
  private final List<Operation> operations = new ArrayList<>();
  private final Map<String, Double> rates = new TreeMap<>();
  private final Operations observed =
      new Operations(new BottleneckSettings(Map.of(), "all", 1_000_000_000L, 0, 0, 1));

  /**
   * @param queue blocks between two stages of a stream
   * @param drift how much speeds drift within seconds, as a standard deviation of their logarithms
   */
  CopyMechanism(long seed, Shape shape, int streamCount, int queue, double drift) {
    this.drift = drift;
    this.random = new Random(seed);
    this.shape = shape;
    this.queue = queue;
    for (int i = 0; i < streamCount; i++) {
      streams.add(new Stream(i));
    }
  }

  Speeds speeds() {
    return speeds;
  }

  /** Runs until that second and returns the samples that are complete by then, in order of time. */
  List<Sample> runTo(double second) {
    for (Stream stream : streams) {
      while (stream.now() < second * 1000) {
        stream.moveBlock();
      }
    }
    operations.sort(Comparator.comparingDouble(Operation::endMs));
    List<Operation> ended = operations.stream().filter(operation -> operation.endMs <= second * 1000).toList();
    operations.subList(0, ended.size()).clear();
    DoubleSummaryStatistics[] statistics = new DoubleSummaryStatistics[STAGES];
    Arrays.setAll(statistics, stage -> new DoubleSummaryStatistics());
    for (Operation operation : ended) {
      String name = OPERATIONS[operation.stage];
      if (name != null) {
        String component = COMPONENTS[operation.stage];
        statistics[operation.stage].accept(BLOCK_BYTES / (operation.endMs - operation.startMs));
        observed.start(name, operation.stream, operation.id, (long) (operation.startMs * 1e6));
        observed.end(name, component, operation.stream, operation.id, (long) (operation.endMs * 1e6), BLOCK_BYTES);
      }
    }
    rates.clear();
    for (int stage = 0; stage < STAGES; stage++) {
      if (statistics[stage].getCount() > 0) {
        rates.put(COMPONENTS[stage], statistics[stage].getAverage());
      }
    }
    return observed.complete(false);
  }

  /** Returns, by component, the mean of the operations' rates in the last run. */
  Map<String, Double> rates() {
    return rates;
  }

  private double serviceMs(int stage) {
    drifts[stage] = (1 - DRIFT_RETURN) * drifts[stage] + Math.sqrt(2 * DRIFT_RETURN) * drift * random.nextGaussian();
    double mean = Math.exp(drifts[stage]) * switch (stage) {
      case READ -> speeds.read;
      case NETWORK -> speeds.network;
      case COMPUTE -> speeds.compute;
      default -> speeds.write;
    };
    if (stage == WRITE && speeds.cached > 0) {
      boolean isCached = random.nextDouble() < speeds.cached;
      return isCached ? 0.02 * mean : mean * (1 - 0.02 * speeds.cached) / (1 - speeds.cached);
    }
    return mean * shape.draw(random);
  }
}
