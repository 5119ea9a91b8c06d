package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.RouteEntry;
import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * How many events of each route the archive holds, by its manifests. Each manifest is parsed once, so asking again
 * costs a listing. Used by one thread.
 */
public final class ManifestCounts {
  private final ArchiveDirectory directory;
  private final Map<String, Manifest> known = new TreeMap<>();

  public ManifestCounts(Path directory) {
    this.directory = new ArchiveDirectory(directory);
  }

  /** The events archived so far; an archive that does not exist yet holds none. */
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
