package io.lifeline.jobs.archive;

import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** How many events of each route the archive holds, by its manifests. Reads only the manifests that it has not seen. */
public final class ArchiveCounts {

  public ArchiveCounts(Path directory) {
    throw new UnsupportedOperationException("under construction");
  }

  /** The events archived so far; an archive that does not exist yet holds none. */
  public Map<RouteKey, Long> refresh() throws IOException {
    throw new UnsupportedOperationException("under construction");
  }
}
