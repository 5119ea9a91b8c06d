package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.RouteEntry;
import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts the archived events of each route, from the manifests. Each manifest is parsed once, so later calls only list
 * the directory. Used by one thread.
 */
public final class ManifestCounts {
  private final ArchiveDirectory directory;
  private final Map<String, Manifest> known = new TreeMap<>();

  public ManifestCounts(Path directory) {
    this.directory = new ArchiveDirectory(directory);
  }

  /** Returns the events archived so far; none if the archive does not exist yet. */
  public Map<RouteKey, Long> refresh() throws IOException {
    Map<RouteKey, Long> events = new HashMap<>();
    for (Manifest manifest : Manifests.readByName(directory, known).values()) {
      for (RouteEntry route : manifest.routes()) {
        events.merge(route.key(), route.events(), Long::sum);
      }
    }
    return events;
  }
}
