package io.lifeline.jobs.core;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Nanoseconds since the Unix epoch as people write them. */
public final class Timestamps {

  private static final DateTimeFormatter FORMAT =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.nnnnnnnnn'Z'").withZone(ZoneOffset.UTC);

  private Timestamps() {}

  /** ISO 8601 in UTC with all nine digits of the fraction. */
  public static String iso(long ns) {
    return FORMAT.format(Instant.ofEpochSecond(Math.floorDiv(ns, 1_000_000_000L), Math.floorMod(ns, 1_000_000_000L)));
  }
}
