package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.RouteEntry;
import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Counts the archived events of each route, from the manifests. Each manifest is parsed once, and only its counts are
 * kept; a call without new manifests only lists the directory. Used by one thread.
 */
public final class ManifestCounts {
  private final ArchiveDirectory directory;
  private final Map<String, Manifest> known = new TreeMap<>();
  private Set<String> counted = Set.of();
  private Map<RouteKey, Long> events = Map.of();

  public ManifestCounts(Path directory) {
    this.directory = new ArchiveDirectory(directory);
  }

  /** Returns the events archived so far; none if the archive does not exist yet. */
  public Map<RouteKey, Long> refresh() throws IOException {
    Map<String, Manifest> current = Manifests.readByName(directory, known, ManifestCounts::onlyCounts);
    if (!current.keySet().equals(counted)) {
      Map<RouteKey, Long> sums = new HashMap<>();
      for (Manifest manifest : current.values()) {
        for (RouteEntry route : manifest.routes()) {
          sums.merge(route.key(), route.events(), Long::sum);
        }
      }
      events = Map.copyOf(sums);
      counted = current.keySet();
    }
    return events;
  }

  private static Manifest onlyCounts(Manifest manifest) {
    List<RouteEntry> routes = manifest.routes().stream().map(RouteEntry::onlyCounts).toList();
    return new Manifest(manifest.version(), manifest.partition(), manifest.from(), manifest.to(), manifest.written(),
        manifest.rolls(), List.of(), List.of(), routes, manifest.duplicates(), manifest.rejected(),
        manifest.replaces(), List.of(), manifest.source(), manifest.lastMessage());
  }
}
