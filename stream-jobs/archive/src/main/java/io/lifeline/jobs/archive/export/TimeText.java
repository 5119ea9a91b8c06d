package io.lifeline.jobs.archive.export;

import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Writes times. Keeps the text of a second, since many events share it. */
public final class TimeText {
  private static final long SECOND_NS = 1_000_000_000L;

  private final DateTimeFormatter seconds;
  private final DateTimeFormatter offsets;
  private long second = Long.MIN_VALUE;
  private String text;
  private String offset;

  private TimeText(String pattern, String offsetPattern, ZoneId zone) {
    seconds = DateTimeFormatter.ofPattern(pattern).withZone(zone);
    offsets = DateTimeFormatter.ofPattern(offsetPattern).withZone(zone);
  }

  /** Writes {@code 2026-11-21T05:19:00.123456}, in UTC. */
  static TimeText iso() {
    return new TimeText("uuuu-MM-dd'T'HH:mm:ss", "", ZoneOffset.UTC);
  }

  /** Writes {@code 2026-11-21T06:19:00.123456+01:00}, in that zone. */
  public static TimeText iso(ZoneId zone) {
    return new TimeText("uuuu-MM-dd'T'HH:mm:ss", "ZZZZZ", zone);
  }

  /** Writes {@code 20261121051900.123456}, in UTC. */
  static TimeText ulm() {
    return new TimeText("uuuuMMddHHmmss", "", ZoneOffset.UTC);
  }

  /** Appends the time with this number of decimals, truncated. */
  public void append(StringBuilder out, long ns, int decimals) {
    long of = Math.floorDiv(ns, SECOND_NS);
    if (of != second || text == null) {
      text = seconds.format(Instant.ofEpochSecond(of));
      offset = offsets.format(Instant.ofEpochSecond(of));
      second = of;
    }
    String fraction = Long.toString(SECOND_NS + Math.floorMod(ns, SECOND_NS));
    out.append(text).append('.').append(fraction, 1, 1 + decimals).append(offset);
  }
}
