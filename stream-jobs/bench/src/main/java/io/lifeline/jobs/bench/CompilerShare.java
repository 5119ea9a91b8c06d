package io.lifeline.jobs.bench;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;

/**
 * The share of a measurement's time in which the Java machine compiled. While it is large, the measured code is not yet
 * the code that will run, so the measurement is mostly of the set-up.
 */
final class CompilerShare {
  private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();

  private final long startMs = COMPILER.getTotalCompilationTime();
  private final long startNs = System.nanoTime();

  /** Returns the share since this object was made. */
  double now() {
    return (COMPILER.getTotalCompilationTime() - startMs) * 1e6 / (System.nanoTime() - startNs);
  }
}
