package io.lifeline.jobs.core.ledger;

import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.util.Map;

/** Counts the events of each route in an archive. */
@FunctionalInterface
public interface ArchivedEvents extends AutoCloseable {
  Map<RouteKey, Long> count() throws IOException;

  @Override
  default void close() {}
}
