package io.lifeline.jobs.cli.tail;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.codec.Level;
import io.lifeline.jobs.archive.export.JsonLines;
import io.lifeline.jobs.core.Glob;
import io.lifeline.jobs.core.filter.Condition;
import io.lifeline.jobs.core.live.LiveMessages;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class TailTest {

  private static final long START_NS = 1_700_000_000L * 1_000_000_000;
  private static final EventType READ =
      EventType.named("disk.read.end").field("id", FieldType.U64).field("nbytes", FieldType.U64, "B").build();
  private static final EventType FAILED =
      EventType.named("copy.failed").level(Level.ERROR).constant("code", FieldType.I32, "", 7)
          .field("why", FieldType.STRING).field("load", FieldType.F64).build();
  private static final Selection ALL = new Selection(List.of(), null, null, null);
  private static final String READ_0 = "2023-11-14T22:13:20.000000Z  disk.read.end     info   node-a    copy      42"
      + "     id=0 nbytes=100\n";

  /** What has arrived; then the reading thread is interrupted, as by Ctrl-C. */
  private static final class Arrived implements LiveMessages {
    private final Queue<byte[]> messages = new ArrayDeque<>();

    Arrived(byte[]... messages) {
      this.messages.addAll(List.of(messages));
    }

    @Override
    public Message next(Duration timeout) throws InterruptedException {
      if (messages.isEmpty()) {
        throw new InterruptedException();
      }
      return new Message(messages.poll(), 0, messages.size());
    }

    @Override
    public String trouble() {
      return null;
    }

    @Override
    public boolean isCaughtUp() {
      return messages.isEmpty();
    }

    @Override
    public void close() {}
  }

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final StringWriter err = new StringWriter();

  @Test
  void printsColumnsWithTheMembersAsNetLoggerWritesThem() throws Exception {
    byte[] batch = batch("copy", 1).event(READ, START_NS, 0L, 100L)
        .event(FAILED, START_NS + 1_500_000_000, "no space", 0.5).toByteArray();
    print(ALL, batch);
    assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo(READ_0
        + "2023-11-14T22:13:21.500000Z  copy.failed       error  node-a    copy      42     code=7 why=\"no space\""
        + " load=0.5\n");
  }

  @Test
  void printsLocalTimesWithTheirOffsetAndColours() throws Exception {
    byte[] batch = batch("copy", 1).event(FAILED, START_NS, "x", 1.0).toByteArray();
    run(ALL, new ColumnText(ZoneId.of("Asia/Kolkata"), true), Long.MAX_VALUE, batch);
    assertThat(out.toString(StandardCharsets.UTF_8)).startsWith(
        "\033[2m2023-11-15T03:43:20.000000+05:30  \033[m\033[31mcopy.failed       error  \033[mnode-a  ");
  }

  @Test
  void textFromEmittersCannotControlTheTerminal() throws Exception {
    EventType hostile = EventType.named("a\033[31m\nb").field("f\033", FieldType.STRING).build();
    byte[] batch = batch("p\u202Eq", 1).event(hostile, START_NS, "\033]0;title\007\u009B\n").toByteArray();
    print(ALL, batch);
    run(ALL, new JsonLines()::append, Long.MAX_VALUE, batch);
    assertThat(out.toString(StandardCharsets.UTF_8)).doesNotContain("\033", "\007", "\u009B", "\u202E")
        .contains("a\uFFFD[31m\uFFFDb", "p\uFFFDq").satisfies(text -> assertThat(text.lines()).hasSize(2));
  }

  @Test
  void aColumnBecomesWiderWithALongerName() throws Exception {
    byte[] batch = batch("a-program-of-some-length", 1).event(READ, START_NS, 0L, 1L).toByteArray();
    byte[] next = batch("copy", 2).event(READ, START_NS, 0L, 1L).toByteArray();
    print(ALL, batch, next);
    List<String> lines = out.toString(StandardCharsets.UTF_8).lines().toList();
    assertThat(lines.get(1).indexOf("42")).isEqualTo(lines.get(0).indexOf("42"));
  }

  @Test
  void eventsOfABatchAreInOrderOfTime() throws Exception {
    byte[] batch = batch("copy", 1)
        .thread(1).event(READ, START_NS, 1L, 0L).event(READ, START_NS + 20, 3L, 0L)
        .thread(2).event(READ, START_NS + 10, 2L, 0L).event(READ, START_NS + 30, 4L, 0L).toByteArray();
    print(ALL, batch);
    assertThat(out.toString(StandardCharsets.UTF_8).lines().map(line -> line.replaceAll(".* id=([0-9]+).*", "$1")))
        .containsExactly("1", "2", "3", "4");
  }

  @Test
  void selectsByTypeProgramHostAndCondition() throws Exception {
    byte[] copy = batch("copy", 1).event(READ, START_NS, 1L, 10L).event(READ, START_NS, 2L, 20L)
        .event(FAILED, START_NS, "x", 1.0).toByteArray();
    byte[] move = batch("move", 1).incarnation(new Incarnation(1, 2)).event(READ, START_NS, 3L, 30L).toByteArray();
    assertThat(selected(new Selection(List.of(Glob.of("disk.*"), Glob.of("x")), null, null, null), copy, move))
        .isEqualTo(3);
    assertThat(selected(new Selection(List.of(), Glob.of("c*"), null, null), copy, move)).isEqualTo(3);
    assertThat(selected(new Selection(List.of(), null, Glob.of("*-b"), null), copy, move)).isZero();
    assertThat(selected(new Selection(List.of(), null, null, Condition.parse("nbytes >= 20")), copy, move))
        .isEqualTo(2);
    assertThat(selected(
        new Selection(List.of(Glob.of("disk.*")), Glob.of("copy"), null, Condition.parse("level == 'info'")), copy,
        move)).isEqualTo(2);
  }

  @Test
  void printsABatchOnceAndCountsWhatIsNoBatch() throws Exception {
    byte[] batch = batch("copy", 1).event(READ, START_NS, 0L, 100L).toByteArray();
    byte[] corrupt = batch.clone();
    corrupt[corrupt.length - 1] ^= 1;
    String summary = print(ALL, batch, batch, corrupt, batch);
    assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo(READ_0);
    assertThat(summary).isEqualTo("events=1 skipped=0 batches=1 missing_batches=0 repeated_batches=2 dropped=0"
        + " rejected=1 undecided=0");
    assertThat(err.toString()).startsWith("a message is not a valid batch: ");
  }

  @Test
  void endsExactlyAfterTheWantedNumberOfEvents() throws Exception {
    BatchWriter batch = batch("copy", 1);
    for (long i = 0; i < 1000; i++) {
      batch.event(READ, START_NS + i, i, 0L);
    }
    run(ALL, new ColumnText(ZoneOffset.UTC, false), 700, batch.toByteArray());
    assertThat(out.toString(StandardCharsets.UTF_8).lines()).hasSize(700).last().asString().endsWith(" id=699 nbytes=0");
  }

  @Test
  void reportsWhatEmittersDroppedSinceTheFirstBatchThatWasRead() throws Exception {
    List<String> said = new ArrayList<>();
    Losses losses = new Losses();
    for (byte[] batch : List.of(dropping(1, 0, 3), dropping(2, 0, 3), dropping(3, 4, 5))) {
      add(losses, batch, 0);
    }
    losses.report(0, said::add);
    losses.report(0, said::add);
    assertThat(said).containsExactly("copy on node-a, pid 42: the emitter dropped 9 events: ring_full=4 sink=5");
    assertThat(losses.dropped()).isEqualTo(9);
    Losses later = new Losses();
    add(later, dropping(7, 4, 5), 0);
    add(later, dropping(8, 5, 5), 0);
    later.report(0, said::add);
    assertThat(said).hasSize(2).last()
        .isEqualTo("copy on node-a, pid 42: the emitter dropped 1 events: ring_full=1");
  }

  @Test
  void reportsMissingBatchesUnlessTheyComeSoon() throws Exception {
    Losses losses = new Losses();
    List<String> said = new ArrayList<>();
    add(losses, 10, 0);
    add(losses, 14, 0);
    add(losses, 13, 1);
    add(losses, 9, 1); // from before
    losses.report(TimeUnit.SECONDS.toNanos(1), said::add);
    assertThat(said).isEmpty();
    assertThat(losses.missing()).isEqualTo(2);
    losses.report(TimeUnit.SECONDS.toNanos(6), said::add);
    losses.report(TimeUnit.SECONDS.toNanos(20), said::add);
    assertThat(said).containsExactly("copy on node-a, pid 42: 2 batches up to sequence 14 are missing: still in the"
        + " emitter's spool, or lost");
    add(losses, 11, TimeUnit.SECONDS.toNanos(30));
    add(losses, 12, TimeUnit.SECONDS.toNanos(31));
    losses.report(TimeUnit.SECONDS.toNanos(36), said::add);
    assertThat(said).hasSize(2).last().isEqualTo("copy on node-a, pid 42: the missing batches have arrived");
    assertThat(losses.missing()).isZero();
    add(losses, 16, TimeUnit.SECONDS.toNanos(40));
    add(losses, 15, TimeUnit.SECONDS.toNanos(41));
    losses.report(TimeUnit.SECONDS.toNanos(60), said::add);
    assertThat(said).hasSize(2);
  }

  private static void add(Losses losses, long sequence, long nowNs) throws Exception {
    add(losses, batch("copy", sequence).toByteArray(), nowNs);
  }

  private static void add(Losses losses, byte[] batch, long nowNs) throws Exception {
    losses.add(new BatchReader().read(batch, 0, batch.length), nowNs);
  }

  private static byte[] dropping(long sequence, long ringFull, long sink) {
    return batch("copy", sequence).counter(Counter.DROPPED_RING_FULL, ringFull).counter(Counter.DROPPED_SINK, sink)
        .toByteArray();
  }

  private static BatchWriter batch(String program, long sequence) {
    return new BatchWriter().incarnation(new Incarnation(1, 1)).sequence(sequence).host("node-a").program(program)
        .pid(42).ticks(START_NS, 1_000_000_000, true).thread(7);
  }

  private long selected(Selection selection, byte[]... messages) throws Exception {
    out.reset();
    print(selection, messages);
    return out.toString(StandardCharsets.UTF_8).lines().count();
  }

  private String print(Selection selection, byte[]... messages) throws Exception {
    return run(selection, new ColumnText(ZoneOffset.UTC, false), Long.MAX_VALUE, messages);
  }

  /** Returns the summary. */
  private String run(Selection selection, LineText format, long limit, byte[]... messages) throws Exception {
    Printer printer = new Printer(out, new PrintWriter(err), false);
    printer.start();
    Tail tail = new Tail(new Arrived(messages), format, selection, printer, limit);
    try {
      tail.run();
    } catch (InterruptedException e) {
      // all messages were read
    }
    printer.end(60_000);
    return tail.summary();
  }
}
