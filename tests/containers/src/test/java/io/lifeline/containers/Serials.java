package io.lifeline.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Numbered events, from the program serial-emitter to an archive. A run's threads number their events from 0, so what is
 * lost or there twice shows in the numbers.
 */
final class Serials {

  static final String EMITTER = "/usr/local/libexec/lifeline/serial-emitter";

  private static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final Pattern EMITTED = Pattern.compile("\"emitted\": ?(\\d+)");
  private static final Pattern DROPPED = Pattern.compile("\"dropped\": ?(\\d+)");

  private Serials() {}

  /** How many events the emitter says that it has emitted, none of which it has dropped. */
  static long emitted(String report) {
    assertThat(number(DROPPED, report)).as("dropped, as the emitter says: %s", report).isZero();
    return number(EMITTED, report);
  }

  /**
   * Waits until the archive holds that many events of a run, then compares each number and the ledger.
   *
   * @param sql runs a query and returns CSV with a header
   */
  static void assertArchivedOnce(UnaryOperator<String> sql, int run, long emitted) throws InterruptedException {
    Instant deadline = Instant.now().plus(PATIENCE);
    String events = "SELECT count(*) FROM \"test.serial\" WHERE run = " + run;
    while (count(sql, events) < emitted && Instant.now().isBefore(deadline)) {
      Thread.sleep(500);
    }
    String books =
        "SELECT worker, count(*), count(DISTINCT serial), min(serial), max(serial) FROM \"test.serial\" WHERE run = "
            + run + " GROUP BY worker";
    long archived = 0;
    for (String row : rows(sql.apply(books))) {
      long[] columns = columns(row);
      archived += columns[1];
      assertThat(columns[2]).as("different serials of thread %s: %s", columns[0], row).isEqualTo(columns[1]);
      assertThat(columns[3]).as("first serial: %s", row).isZero();
      assertThat(columns[4]).as("last serial: %s", row).isEqualTo(columns[1] - 1);
    }
    assertThat(archived).as("archived of %s emitted", emitted).isEqualTo(emitted);
    String ledger =
        "SELECT sum(emitted), sum(archived), sum(missing), sum(dropped) FROM ledger JOIN "
            + "(SELECT DISTINCT incarnation FROM \"test.serial\" WHERE run = " + run + ") USING (incarnation)";
    assertThat(columns(rows(sql.apply(ledger)).get(0))).as("the ledger").containsExactly(emitted, emitted, 0, 0);
  }

  private static List<String> rows(String csv) {
    return csv.lines().skip(1).toList();
  }

  /** The first files make the view; until then the query fails. */
  private static long count(UnaryOperator<String> sql, String query) {
    try {
      return columns(rows(sql.apply(query)).get(0))[0];
    } catch (AssertionError e) {
      return 0;
    }
  }

  private static long[] columns(String row) {
    return Pattern.compile(",").splitAsStream(row).mapToLong(Long::parseLong).toArray();
  }

  private static long number(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    assertThat(matcher.find()).as("%s in: %s", pattern, text).isTrue();
    return Long.parseLong(matcher.group(1));
  }
}
