package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.ledger.ArchivedEvents;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts the archived events of each route, from the manifests. Each is read once; a call without new manifests only
 * lists the directory. Used by one thread.
 */
public final class ManifestCounts implements ArchivedEvents {
  private final ArchiveDirectory directory;
  private final Map<String, Manifest> known = new HashMap<>();
  private final Map<RouteKey, Long> sums = new HashMap<>();

  /** The offset of each partition up to which {@link #sums} counts. */
  private final Map<Integer, Long> counted = new HashMap<>();

  private Map<RouteKey, Long> events = Map.of();

  public ManifestCounts(Path directory) {
    this.directory = new ArchiveDirectory(directory);
  }

  /** Returns the events archived so far; none if the archive does not exist yet. */
  public Map<RouteKey, Long> refresh() throws IOException {
    Map<String, Manifest> current = Manifests.readByName(directory, known, Manifest::withoutContent);
    Map<String, Manifest> added = new HashMap<>(current);
    added.values().removeIf(manifest -> manifest.to() <= countedOf(manifest));
    boolean goesOn = added.values().stream().allMatch(manifest -> manifest.from() >= countedOf(manifest));
    if (!goesOn || hasLost(current)) {
      forget();
      added = current;
    }
    if (!added.isEmpty() || sums.size() != events.size()) {
      count(added);
      events = Map.copyOf(sums);
    }
    return events;
  }

  @Override
  public Map<RouteKey, Long> count() throws IOException {
    return refresh();
  }

  @Override
  public Map<Integer, Long> ends() {
    return Map.copyOf(counted);
  }

  private long countedOf(Manifest manifest) {
    return counted.getOrDefault(manifest.partition(), Long.MIN_VALUE);
  }

  /** Returns whether the archive no longer has all that was counted: it was made anew. */
  private boolean hasLost(Map<String, Manifest> current) {
    Map<Integer, Long> ends = new HashMap<>();
    current.values().forEach(manifest -> ends.merge(manifest.partition(), manifest.to(), Math::max));
    return counted.entrySet().stream()
        .anyMatch(end -> ends.getOrDefault(end.getKey(), Long.MIN_VALUE) < end.getValue());
  }

  private void forget() {
    sums.clear();
    counted.clear();
  }

  private void count(Map<String, Manifest> added) throws IOException {
    try {
      for (String name : added.keySet()) {
        Manifests.forEachRoute(directory, name, route -> sums.merge(route.key(), route.events(), Long::sum));
      }
    } catch (IOException e) {
      forget();
      throw e;
    }
    added.values().forEach(manifest -> counted.merge(manifest.partition(), manifest.to(), Math::max));
  }
}
