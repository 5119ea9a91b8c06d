package io.lifeline.jobs.core.ledger;

import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.util.Map;

/** Tells how many events of each route an archive holds. */
@FunctionalInterface
public interface ArchivedEvents extends AutoCloseable {
  Map<RouteKey, Long> count() throws IOException;

  @Override
  default void close() {}
}
