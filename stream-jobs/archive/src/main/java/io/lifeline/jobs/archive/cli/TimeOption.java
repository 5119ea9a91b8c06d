package io.lifeline.jobs.archive.cli;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Times on the command line, as {@code lifeline-cat} reads them. */
public final class TimeOption {
  private static final Pattern NUMBER = Pattern.compile("([0-9]{1,20}(?:\\.[0-9]{1,20})?)([smhd]?)");
  private static final Pattern OFFSET = Pattern.compile("T.*(Z|[+-][0-9]{2}:[0-9]{2})$");
  private static final BigDecimal SECOND_NS = BigDecimal.valueOf(1_000_000_000L);

  private TimeOption() {}

  /**
   * Returns nanoseconds since 1970: of {@code 2026-11-21}, {@code 2026-11-21T05:19:00.5Z} (UTC unless it ends with
   * another offset such as {@code +01:00}), seconds since 1970, or an age such as {@code 10m}.
   *
   * @throws IllegalArgumentException if it is none of these
   */
  public static long parse(String text, long nowNs) {
    try {
      Matcher number = NUMBER.matcher(text);
      if (!number.matches()) {
        return iso(text);
      }
      long unit = switch (number.group(2)) {
        case "m" -> 60;
        case "h" -> 3_600;
        case "d" -> 86_400;
        default -> 1;
      };
      long ns = new BigDecimal(number.group(1)).multiply(BigDecimal.valueOf(unit)).multiply(SECOND_NS).toBigInteger()
          .longValueExact();
      return number.group(2).isEmpty() ? ns : Math.subtractExact(nowNs, ns);
    } catch (DateTimeException | ArithmeticException e) {
      throw new IllegalArgumentException(text, e);
    }
  }

  private static long iso(String text) {
    Instant instant = OFFSET.matcher(text).find()
        ? OffsetDateTime.parse(text).toInstant()
        : (text.contains("T") ? LocalDateTime.parse(text) : LocalDate.parse(text.replaceFirst("Z$", "")).atStartOfDay())
            .toInstant(ZoneOffset.UTC);
    return Math.addExact(Math.multiplyExact(instant.getEpochSecond(), 1_000_000_000L), instant.getNano());
  }
}
