package io.lifeline.jobs.archive.export;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** What an export wrote, and what its format could not show: counts by name, in the order of their first increment. */
public final class Counts {
  private final Map<String, Long> counts = new LinkedHashMap<>();

  public Counts() {
    add("events", 0);
  }

  void add(String name, long count) {
    counts.merge(name, count, Long::sum);
  }

  public long get(String name) {
    return counts.getOrDefault(name, 0L);
  }

  @Override
  public String toString() {
    return counts.entrySet().stream().map(count -> count.getKey() + "=" + count.getValue())
        .collect(Collectors.joining(" "));
  }
}
