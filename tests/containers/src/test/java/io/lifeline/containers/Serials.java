package io.lifeline.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Numbered events, from the program serial-emitter to an archive. A run's threads number their events from 0, so what is
 * lost or there twice shows in the numbers.
 */
final class Serials {

  static final String EMITTER = "/usr/local/libexec/lifeline/serial-emitter";
  static final String ARCHIVE = "/var/lib/lifeline/archive";

  private static final Pattern EMITTED = Pattern.compile("\"emitted\": ?(\\d+)");
  private static final Pattern DROPPED = Pattern.compile("\"dropped\": ?(\\d+)");
  private static final Pattern ROWS = Pattern.compile("\"kind\" ?: ?\"(?:TYPE|SHARED)\".*?\"rows\" ?: ?(\\d+)");

  private Serials() {}

  /** Runs a command beside the archive, and returns what it prints. */
  interface Shell {
    String run(String... command);
  }

  /** How many events the emitter says that it has emitted, none of which it has dropped. */
  static long emitted(String report) {
    assertThat(number(DROPPED, report)).as("wrong books: dropped, as the emitter says: %s", report).isZero();
    return number(EMITTED, report);
  }

  /** Waits until the archive holds that many events of a run, then compares each number and the ledger. */
  static void assertArchivedOnce(Shell shell, int run, long emitted) {
    long deadline = System.nanoTime() + Images.TIMEOUT.toNanos();
    // Each query starts a Java machine: the archive is asked when its manifests have enough rows, and then when they change.
    Await.until(deadline, () -> rows(manifests(shell)) >= emitted);
    String seen;
    Books books;
    do {
      seen = manifests(shell);
      books = Books.read(shell, run);
    } while (books.archived() < emitted && changed(shell, seen, deadline));
    for (long[] worker : books.workers()) {
      assertThat(worker[2]).as("wrong books: different serials of thread %s", worker[0]).isEqualTo(worker[1]);
      assertThat(worker[3]).as("wrong books: first serial of thread %s", worker[0]).isZero();
      assertThat(worker[4]).as("wrong books: last serial of thread %s", worker[0]).isEqualTo(worker[1] - 1);
    }
    assertThat(books.archived()).as("wrong books: archived of %s emitted", emitted).isEqualTo(emitted);
    assertThat(books.ledger()).as("wrong books: the ledger").containsExactly(emitted, emitted, 0, 0);
  }

  /** Waits until the archive has published something that it had not before. */
  static void awaitProgress(Shell shell) {
    String seen = manifests(shell);
    assertThat(changed(shell, seen, System.nanoTime() + Images.TIMEOUT.toNanos())).as("the archive goes on").isTrue();
  }

  private static boolean changed(Shell shell, String seen, long deadline) {
    return Await.until(deadline, () -> !manifests(shell).equals(seen));
  }

  /** What an archive says of a run: per thread its number, events, different serials, the first and the last; and the ledger. */
  private record Books(List<long[]> workers, long[] ledger) {

    static Books read(Shell shell, int run) {
      String events = "FROM \"test.serial\" WHERE run = " + run;
      String sql =
          "SELECT worker, count(*), count(DISTINCT serial), min(serial), max(serial) " + events + " GROUP BY worker "
              + "UNION ALL SELECT -1, sum(emitted), sum(archived), sum(missing), sum(dropped) FROM ledger JOIN "
              + "(SELECT DISTINCT incarnation " + events + ") USING (incarnation)";
      String csv = shell.run("lifeline-jobs", "sql", "--archive", ARCHIVE, "--csv", sql);
      List<long[]> rows = csv.lines().skip(1).map(Books::columns).toList();
      long[] ledger = rows.stream().filter(row -> row[0] < 0).findFirst().orElseThrow();
      return new Books(
          rows.stream().filter(row -> row[0] >= 0).toList(), Arrays.copyOfRange(ledger, 1, ledger.length));
    }

    /** A sum over nothing is empty. */
    private static long[] columns(String row) {
      return Stream.of(row.split(",", -1)).mapToLong(column -> column.isEmpty() ? 0 : Long.parseLong(column)).toArray();
    }

    long archived() {
      return workers.stream().mapToLong(worker -> worker[1]).sum();
    }
  }

  /** Until the first is published there are none. */
  private static String manifests(Shell shell) {
    return shell.run("sh", "-c", "cat " + ARCHIVE + "/manifests/*.json 2>/dev/null || true");
  }

  private static long rows(String manifests) {
    return ROWS.matcher(manifests).results().mapToLong(match -> Long.parseLong(match.group(1))).sum();
  }

  private static long number(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    assertThat(matcher.find()).as("%s in: %s", pattern, text).isTrue();
    return Long.parseLong(matcher.group(1));
  }
}
