package io.lifeline.jobs.core;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Incarnation;

/** Identifies one stream of batches: sequences and counters are per incarnation and route. */
public record RouteKey(Incarnation incarnation, int route) {

  public static RouteKey of(BatchReader batch) {
    return new RouteKey(batch.incarnation(), batch.route());
  }

  /** Reads back what {@link #toString} wrote. */
  public static RouteKey parse(String text) {
    int dash = text.lastIndexOf('-');
    return new RouteKey(Incarnation.parse(text.substring(0, dash)), Integer.parseInt(text.substring(dash + 1)));
  }

  /** The incarnation's 32 hex digits, a dash and the route: the key of the ledger. */
  @Override
  public String toString() {
    return incarnation + "-" + route;
  }
}
