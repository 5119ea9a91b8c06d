package io.lifeline.jobs.core.ledger;

import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.util.Map;

/** Counts the events of each route in an archive. */
@FunctionalInterface
public interface ArchivedEvents extends AutoCloseable {
  Map<RouteKey, Long> count() throws IOException;

  /**
   * Returns where the archive ended in each partition at the last {@link #count}, at the latest: of the messages
   * before, that count has all that the archive will ever hold.
   */
  default Map<Integer, Long> ends() {
    return Map.of();
  }

  @Override
  default void close() {}
}
