package io.lifeline.ksql;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Nanoseconds since the Unix epoch, and ISO 8601 in UTC with nine digits, as decoded events have them. */
final class Nanoseconds {

  private static final long PER_SECOND = 1_000_000_000L;
  private static final DateTimeFormatter FORMAT =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.nnnnnnnnn'Z'").withZone(ZoneOffset.UTC);

  private Nanoseconds() {}

  static String iso(long ns) {
    return FORMAT.format(Instant.ofEpochSecond(Math.floorDiv(ns, PER_SECOND), Math.floorMod(ns, PER_SECOND)));
  }

  /**
   * Reads what {@link #iso} writes, with any number of digits.
   *
   * @throws java.time.format.DateTimeParseException if the text is not such an instant
   * @throws ArithmeticException if it is outside the years 1677 to 2262
   */
  static long parse(String iso) {
    Instant instant = Instant.parse(iso);
    long seconds = instant.getEpochSecond();
    long nanos = instant.getNano();
    if (seconds < 0) { // towards zero, or the first second would overflow in between
      seconds++;
      nanos -= PER_SECOND;
    }
    return Math.addExact(Math.multiplyExact(seconds, PER_SECOND), nanos);
  }
}
