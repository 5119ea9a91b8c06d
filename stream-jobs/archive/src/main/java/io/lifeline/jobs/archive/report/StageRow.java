package io.lifeline.jobs.archive.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * One line of the table of stages.
 *
 * @param bytesPerSecond rate while it was at work: the sum of bytes over the sum of durations
 * @param busyShare part of the run during which at least one such operation was in progress, including waits in the
 *     kernel
 */
public record StageRow(
    String operation, long count, long bytes, double meanNs, long p50Ns, long p99Ns, double bytesPerSecond,
    double busyShare) {

  /** Returns the rows, in the order in which the stages first start. */
  static List<StageRow> of(Map<String, List<Operation>> operations) {
    long first = Long.MAX_VALUE;
    long last = Long.MIN_VALUE;
    for (List<Operation> stage : operations.values()) {
      first = Math.min(first, stage.get(0).startNs());
      last = Math.max(last, stage.stream().mapToLong(Operation::endNs).max().orElseThrow());
    }
    long runNs = Math.max(1, last - first);
    List<Map.Entry<String, List<Operation>>> ordered = new ArrayList<>(operations.entrySet());
    ordered.sort(Comparator.comparingLong(entry -> entry.getValue().get(0).startNs()));
    return ordered.stream().map(entry -> of(entry.getKey(), entry.getValue(), runNs)).toList();
  }

  private static StageRow of(String name, List<Operation> operations, long runNs) {
    long[] durations = operations.stream().mapToLong(Operation::durationNs).sorted().toArray();
    long bytes = operations.stream().mapToLong(Operation::bytes).sum();
    double sum = 0;
    for (long duration : durations) {
      sum += duration;
    }
    return new StageRow(name, durations.length, bytes, sum / durations.length, quantile(durations, 0.5),
        quantile(durations, 0.99), sum == 0 ? 0 : bytes / (sum / 1e9), (double) busyNs(operations) / runNs);
  }

  /** Returns the smallest value that is not exceeded by at least that part of all values. */
  private static long quantile(long[] sorted, double part) {
    return sorted[Math.max(0, (int) Math.ceil(part * sorted.length) - 1)];
  }

  /** Returns the length of the union of the operations' times. */
  private static long busyNs(List<Operation> operations) {
    long busy = 0;
    long until = Long.MIN_VALUE;
    for (Operation operation : operations) {
      long from = Math.max(until, operation.startNs());
      if (operation.endNs() > from) {
        busy += operation.endNs() - from;
        until = operation.endNs();
      }
    }
    return busy;
  }
}
