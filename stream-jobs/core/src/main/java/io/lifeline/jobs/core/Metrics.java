package io.lifeline.jobs.core;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleSupplier;

/** The process's counters and gauges, and their Prometheus text. Thread-safe. */
public final class Metrics {

  /** A number that only grows. */
  public static final class Counter {
    private final LongAdder value = new LongAdder();

    public void increment() {
      value.increment();
    }

    public void add(long n) {
      value.add(n);
    }

    public long value() {
      return value.sum();
    }
  }

  private record Family(String type, String help, Map<String, DoubleSupplier> series) {}

  private final Map<String, Family> families = new TreeMap<>();
  private final Map<String, Counter> counters = new TreeMap<>();

  /** Returns the counter with that name and labels, creating it if needed. Labels are name, value, name, value ... */
  public synchronized Counter counter(String name, String help, String... labels) {
    String series = name + labelText(labels);
    return counters.computeIfAbsent(
        series,
        key -> {
          Counter counter = new Counter();
          family(name, "counter", help).series().put(key, counter::value);
          return counter;
        });
  }

  /**
   * Registers a gauge; a second call with equal name and labels replaces the supplier.
   *
   * @return removes the gauge, unless another supplier has replaced it
   */
  public synchronized Runnable gauge(String name, String help, DoubleSupplier value, String... labels) {
    Map<String, DoubleSupplier> series = family(name, "gauge", help).series();
    String key = name + labelText(labels);
    series.put(key, value);
    return () -> {
      synchronized (this) {
        series.remove(key, value);
      }
    };
  }

  /** Returns all metrics in the Prometheus text format, version 0.0.4. Gauges may wait for an answer meanwhile. */
  public String text() {
    Map<String, Family> now = new TreeMap<>();
    synchronized (this) {
      families.forEach(
          (name, family) -> now.put(name, new Family(family.type(), family.help(), new TreeMap<>(family.series()))));
    }
    StringBuilder text = new StringBuilder();
    now.forEach(
        (name, family) -> {
          text.append("# HELP ").append(name).append(' ').append(family.help()).append('\n');
          text.append("# TYPE ").append(name).append(' ').append(family.type()).append('\n');
          family
              .series()
              .forEach((series, value) -> text.append(series).append(' ').append(number(value)).append('\n'));
        });
    return text.toString();
  }

  private Family family(String name, String type, String help) {
    return families.computeIfAbsent(name, n -> new Family(type, help, new TreeMap<>()));
  }

  private static String labelText(String[] labels) {
    if (labels.length == 0) {
      return "";
    }
    StringBuilder text = new StringBuilder("{");
    for (int i = 0; i < labels.length; i += 2) {
      String value = labels[i + 1].replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
      text.append(i > 0 ? "," : "").append(labels[i]).append("=\"").append(value).append('"');
    }
    return text.append('}').toString();
  }

  private static String number(DoubleSupplier supplier) {
    double value = supplier.getAsDouble();
    return value == Math.rint(value) && Math.abs(value) < 1e15
        ? String.format(Locale.ROOT, "%d", (long) value)
        : Double.toString(value);
  }
}
