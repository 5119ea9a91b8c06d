package io.lifeline.jobs.bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

/**
 * Measures the rate at which a backlog is processed, from the time when a tenth is done to the end. This excludes the
 * time to join groups and open connections.
 */
final class Stopwatch {

  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final long PATIENCE_NS = 90_000_000_000L;
  private static final long POLL_MS = 2;

  /**
   * @param perSecond by the wall clock
   * @param perCoreSecond by the processor time of this process and the broker
   */
  record Reading(double perSecond, double perCoreSecond) {}

  private final long brokerPid;

  Stopwatch(long brokerPid) {
    this.brokerPid = brokerPid;
  }

  /** Returns when {@code done} has reached {@code all}. */
  Reading watch(LongSupplier done, long all) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE_NS;
    long first = await(done, all / 10, deadline);
    long startNs = System.nanoTime();
    long startCpuNs = cpuNs();
    long last = await(done, all, deadline);
    if (last != all) {
      throw new IllegalStateException("of " + all + " there came " + last);
    }
    double n = last - first;
    return new Reading(n * 1e9 / (System.nanoTime() - startNs), n * 1e9 / (cpuNs() - startCpuNs));
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
