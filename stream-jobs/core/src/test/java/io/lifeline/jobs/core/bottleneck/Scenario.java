package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.bottleneck.CopyMechanism.Shape;
import io.lifeline.jobs.core.bottleneck.CopyMechanism.Speeds;
import java.util.Objects;
import java.util.Random;
import java.util.function.BiConsumer;

/**
 * The copies on which the rule is validated. Each has a first phase of a minute, and a second phase of a minute and a
 * half, at whose end the verdict is compared with the truth.
 *
 * @param truth the component that is the bottleneck at the end; null for none
 */
record Scenario(
    String name, String truth, BiConsumer<Speeds, Random> first, BiConsumer<Speeds, Random> second) {

  static final int FIRST_S = 60;
  static final int SECOND_S = 90;

  private static final BiConsumer<Speeds, Random> AS_BEFORE = (speeds, random) -> {};

  static final Scenario[] ALL = {
    steady("disk-read"),
    steady("network"),
    steady("disk-write"),
    new Scenario("all stages equally fast", null, AS_BEFORE, AS_BEFORE),
    new Scenario("the program computes longer than any stage works", null,
        (speeds, random) -> speeds.compute = 5 * factor(random, 2.5, 4), AS_BEFORE),
    new Scenario("the program begins to compute that long", null,
        (speeds, random) -> speeds.set("disk-write", 10),
        (speeds, random) -> speeds.compute = 10 * factor(random, 2.5, 4)),
    new Scenario("memory to disk, then loss on the network (the paper's Figure 3d)", "network",
        (speeds, random) -> speeds.set("disk-write", 10).set("disk-read", 0.5),
        (speeds, random) -> speeds.network = 10 * factor(random, 1.5, 4)),
    new Scenario("memory to disk over UDT, then loss, its waits unseen (Figure 4b)", "network",
        (speeds, random) -> speeds.set("network", 10).set("disk-write", 7).set("disk-read", 0.5),
        (speeds, random) -> {
          speeds.network = 10 * factor(random, 1.6, 3);
          speeds.hidden = factor(random, 0.7, 0.9);
        }),
    new Scenario("the same from a slow disk at first", "network",
        (speeds, random) -> speeds.set("network", 5).set("disk-write", 10).set("disk-read", 0.5),
        (speeds, random) -> {
          speeds.network = 10 * factor(random, 1.6, 3);
          speeds.hidden = factor(random, 0.7, 0.9);
        }),
    new Scenario("writes that mostly go to memory, and long ones to disk (Figure 3a)", "disk-write",
        (speeds, random) -> {
          speeds.write = 5 * factor(random, 1.6, 3);
          speeds.cached = factor(random, 0.5, 0.9);
        },
        AS_BEFORE),
    new Scenario("the sender's disk gets another reader", "disk-read",
        (speeds, random) -> speeds.set("network", 10),
        (speeds, random) -> speeds.read = 10 * factor(random, 1.5, 4)),
    new Scenario("a bottleneck goes away", null,
        (speeds, random) -> speeds.set("disk-write", 5 * factor(random, 1.6, 4)),
        (speeds, random) -> speeds.set("disk-write", 5)),
  };

  private static Scenario steady(String component) {
    return new Scenario(component + " is the slowest", component,
        (speeds, random) -> speeds.set(component, 5 * factor(random, 1.4, 4)), AS_BEFORE);
  }

  private static double factor(Random random, double from, double to) {
    return from + (to - from) * random.nextDouble();
  }

  /**
   * Verdicts of the rules at the end of one copy.
   *
   * @param settledS seconds of the second phase after which our verdict stayed right; all of them if it was wrong
   */
  record Answers(String ours, String papers, int settledS) {}

  Answers run(long seed) {
    Random random = new Random(seed);
    Shape shape = Shape.values()[random.nextInt(Shape.values().length)];
    int streams = random.nextBoolean() ? 1 : 4;
    int queue = new int[] {1, 2, 8, 32}[random.nextInt(4)];
    double drift = random.nextBoolean() ? 0 : 0.15;
    CopyMechanism copy = new CopyMechanism(random.nextLong(), shape, streams, queue, drift);
    Watch watch = new Watch(60_000_000_000L);
    PapersRule papers = new PapersRule();
    int settledS = 0;
    for (int second = 0; second < FIRST_S + SECOND_S; second++) {
      if (second == 0) {
        first.accept(copy.speeds(), random);
      } else if (second == FIRST_S) {
        second().accept(copy.speeds(), random);
      }
      watch.add(copy.runTo(second + 1));
      papers.add(copy.rates());
      settledS = Objects.equals(truth, watch.verdict().component()) ? settledS : second + 1 - FIRST_S;
    }
    return new Answers(watch.verdict().component(), papers.answer(), Math.max(0, settledS));
  }
}
