package io.lifeline.jobs.archive.export;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Writes times in UTC. Keeps the text of a second, since many events share it. */
final class TimeText {
  private static final long SECOND_NS = 1_000_000_000L;

  private final DateTimeFormatter seconds;
  private long second = Long.MIN_VALUE;
  private String text;

  private TimeText(String pattern) {
    seconds = DateTimeFormatter.ofPattern(pattern).withZone(ZoneOffset.UTC);
  }

  /** Writes {@code 2026-11-21T05:19:00.123456}. */
  static TimeText iso() {
    return new TimeText("uuuu-MM-dd'T'HH:mm:ss");
  }

  /** Writes {@code 20261121051900.123456}. */
  static TimeText ulm() {
    return new TimeText("uuuuMMddHHmmss");
  }

  /** Appends the time with this number of decimals, truncated. */
  void append(StringBuilder out, long ns, int decimals) {
    long of = Math.floorDiv(ns, SECOND_NS);
    if (of != second || text == null) {
      text = seconds.format(Instant.ofEpochSecond(of));
      second = of;
    }
    String fraction = Long.toString(SECOND_NS + Math.floorMod(ns, SECOND_NS));
    out.append(text).append('.').append(fraction, 1, 1 + decimals);
  }
}
