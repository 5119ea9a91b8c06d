package io.lifeline.jobs.bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Measures the rate at which a backlog is processed, from a quarter of it to 95 %. The first quarter excludes set-up:
 * connections, the assignment of partitions, first batches. The end is left out because there some threads still work
 * and others have nothing left.
 */
final class Stopwatch {

  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final long PATIENCE_NS = 300_000_000_000L;
  private static final long POLL_MS = 2;

  /**
   * @param perSecond by the wall clock
   * @param perCoreSecond by the processor time of this process and the broker
   * @param setUpShare the share of the measured time that was set-up
   */
  record Reading(double perSecond, double perCoreSecond, double setUpShare) {}

  /** What was done at a moment. */
  private record Mark(long done, long ns, long cpuNs, CompilerShare compiler) {}

  private final long brokerPid;

  Stopwatch(long brokerPid) {
    this.brokerPid = brokerPid;
  }

  /**
   * Returns when 95 % of the backlog is done. If more than half of it was done before the set-up was over, the
   * measurement includes the set-up.
   *
   * @param isSetUp whether all parts of the measured program work
   */
  Reading watch(LongSupplier done, BooleanSupplier isSetUp, long all) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE_NS;
    Mark start = mark(0);
    Mark ready = mark(await(() -> isSetUp.getAsBoolean() ? done.getAsLong() : 0, all / 4, deadline));
    Mark end = mark(await(done, all - all / 20, deadline));
    double compiling = ready.compiler().now();
    return ready.done() < all / 2
        ? reading(ready, end, compiling)
        : reading(start, end, (double) (ready.ns() - start.ns()) / (end.ns() - start.ns()));
  }

  /** Waits until the number has reached {@code all}, which it must not exceed. */
  void awaitAll(LongSupplier number, long all) throws InterruptedException {
    long last = await(number, all, System.nanoTime() + PATIENCE_NS);
    if (last != all) {
      throw new IllegalStateException("of " + all + " there came " + last);
    }
  }

  private static Reading reading(Mark from, Mark to, double setUpShare) {
    double n = to.done() - from.done();
    return new Reading(n * 1e9 / (to.ns() - from.ns()), n * 1e9 / (to.cpuNs() - from.cpuNs()), setUpShare);
  }

  private Mark mark(long done) {
    return new Mark(done, System.nanoTime(), cpuNs(), new CompilerShare());
  }

  private static long await(LongSupplier done, long wanted, long deadline) throws InterruptedException {
    long n = done.getAsLong();
    while (n < wanted) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("the backlog is not worked off: " + n + " of " + wanted);
      }
      Thread.sleep(POLL_MS);
      n = done.getAsLong();
    }
    return n;
  }

  private long cpuNs() {
    long broker =
        ProcessHandle.of(brokerPid).flatMap(process -> process.info().totalCpuDuration()).orElseThrow().toNanos();
    return SYSTEM.getProcessCpuTime() + broker;
  }
}
