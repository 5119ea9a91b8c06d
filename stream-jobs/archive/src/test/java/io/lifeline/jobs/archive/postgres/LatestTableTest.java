package io.lifeline.jobs.archive.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.servers.PostgresServer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the latest events of so many emitters that they are not written with every roll. */
@Tag("system")
class LatestTableTest {
  private static final int EMITTERS = Upserts.MANY;
  private static final long HOUR_NS = Duration.ofHours(1).toNanos();
  private static final EventType VALUE = EventType.named("value").field("id", FieldType.F64)
      .field("text", FieldType.STRING).field("raw", FieldType.BYTES).field("n", FieldType.U64).build();

  private final String schema = PostgresDatabases.newSchema();

  private ArchiveWriter open(Consumer<StoreStep> progress) throws Exception {
    return new PostgresArchive(PostgresDatabases.options(schema, PostgresOptions.DEFAULT_ROLL))
        .open(rejection -> {}, progress, () -> PostgresDatabases.NOW_MS);
  }

  /** Appends the batch of that number of each emitter; every third one is older than the one before it. */
  private static void append(ArchiveWriter writer, int number) throws Exception {
    append(writer, number, 0);
  }

  private static void append(ArchiveWriter writer, int number, int firstEmitter) throws Exception {
    for (int emitter = firstEmitter; emitter < firstEmitter + EMITTERS; emitter++) {
      long tick = number % 3 == 2 ? number - 2 : number;
      writer.append(Archives.at(writer.nextOffset(0)), Archives.batch(new Incarnation(emitter, -emitter), number)
          .host("h\u00f6st-\"" + emitter).event(VALUE, tick, emitter / 3.0, "it's \0 \"\\\n\u20ac" + number,
              new byte[] {-1, 0}, (long) -emitter).toByteArray());
    }
  }

  /** Asserts how many of the latest events are in the table, and how many of these are the newest in the archive. */
  private void assertThatThereAre(int latest, int newest) throws Exception {
    assertThat(PostgresDatabases.query(schema, "SELECT (SELECT count(*) FROM latest), (SELECT count(*) FROM latest l"
        + " JOIN events e USING (type, incarnation, sequence, event_index, ts, ts_ns, level, host, program, id)"
        + " WHERE l.fields = e.fields AND NOT EXISTS (SELECT FROM events o WHERE o.incarnation = l.incarnation"
        + " AND o.ts_ns > l.ts_ns))")).containsExactly(latest + " " + newest);
  }

  private int latest() throws Exception {
    return Integer.parseInt(PostgresDatabases.query(schema, "SELECT count(*) FROM latest").get(0));
  }

  private void assertThatTheJournalHas(int texts) throws Exception {
    assertThat(PostgresDatabases.query(schema, "SELECT count(*) FROM " + schema + "_data.\"" + LatestTable.JOURNAL
        + "\"")).containsExactly(Integer.toString(texts));
  }

  @Test
  void theyAreWrittenWhenTheArchiveIsClosed() throws Exception {
    try (ArchiveWriter writer = open(step -> {})) {
      for (int number = 1; number <= 3; number++) {
        append(writer, number);
        writer.roll();
        assertThatThereAre(0, 0);
        assertThatTheJournalHas(number);
      }
      assertThat(writer.isStored()).isTrue();
    }
    assertThatThereAre(EMITTERS, EMITTERS);
    assertThatTheJournalHas(0);
  }

  @Test
  void theyAreWrittenWhenTheirPartitionIsReleased() throws Exception {
    try (ArchiveWriter writer = open(step -> {})) {
      append(writer, 1);
      writer.roll();
      assertThatTheJournalHas(1);
      writer.release(0);
      assertThatThereAre(EMITTERS, EMITTERS);
      assertThatTheJournalHas(0);
    }
  }

  @Test
  void theyAreWrittenInTimeAlsoWhenNoMoreEventsCome() throws Exception {
    try (ArchiveWriter writer = open(step -> {})) {
      append(writer, 1);
      writer.roll();
      assertThat(writer.rollIfDue(System.nanoTime() + HOUR_NS)).isFalse();
      assertThatThereAre(EMITTERS, EMITTERS);
      assertThatTheJournalHas(0);
      append(writer, 2);
      writer.roll();
      assertThatTheJournalHas(1);
    }
    assertThatThereAre(EMITTERS, EMITTERS);
  }

  @Test
  void theyAreWrittenEarlierWhenTheyNeedMuchMemory() throws Exception {
    PostgresOptions options = PostgresDatabases.options(schema, PostgresOptions.DEFAULT_ROLL.withBytes(1 << 20));
    try (ArchiveWriter writer = new PostgresArchive(options).open(rejection -> {})) {
      append(writer, 1);
      writer.roll();
      assertThatTheJournalHas(1);
      int emitters = EMITTERS;
      for (; latest() == 0 && emitters < 20 * EMITTERS; emitters += EMITTERS) {
        append(writer, 1, emitters);
        writer.roll();
      }
      assertThatThereAre(emitters, emitters);
      assertThatTheJournalHas(0);
    }
  }

  @Test
  void theNextWriterOfThePartitionWritesThoseOfOneThatEndedEarly() throws Exception {
    try (ArchiveWriter writer = open(step -> {})) {
      for (int number = 1; number <= 3; number++) {
        append(writer, number);
        writer.roll();
      }
      writer.abandon();
    }
    assertThatThereAre(0, 0);
    try (ArchiveWriter other = open(step -> {})) {
      assertThat(other.nextOffset(1)).isZero();
      assertThatTheJournalHas(3);
      assertThat(other.nextOffset(0)).isEqualTo(3 * EMITTERS);
      assertThatThereAre(EMITTERS, EMITTERS);
      assertThatTheJournalHas(0);
    }
  }

  @Test
  void anArchiveOfAnEarlierReleaseGetsAJournal() throws Exception {
    open(step -> {}).close();
    PostgresServer.shared().execute("DROP TABLE " + schema + "_data.\"" + LatestTable.JOURNAL + "\"");
    try (ArchiveWriter writer = open(step -> {})) {
      append(writer, 1);
      writer.roll();
      assertThatTheJournalHas(1);
    }
    assertThatThereAre(EMITTERS, EMITTERS);
  }

  @ParameterizedTest
  @EnumSource(StoreStep.class)
  void theyAreThoseOfTheArchiveWhereverAWriterEnds(StoreStep end) throws Exception {
    AtomicInteger reached = new AtomicInteger();
    try (ArchiveWriter writer = open(step -> {
      if (step == end && reached.incrementAndGet() >= 2) {
        throw new IllegalStateException("ends here");
      }
    })) {
      append(writer, 1);
      writer.roll();
      append(writer, 2);
      assertThatThrownBy(writer::roll).isInstanceOf(IllegalStateException.class);
      writer.abandon();
    }
    try (ArchiveWriter writer = open(step -> {})) {
      boolean isStored = writer.nextOffset(0) == 2 * EMITTERS;
      assertThat(isStored).isEqualTo(end == StoreStep.COMMITTED);
      assertThatThereAre(EMITTERS, EMITTERS);
      append(writer, 2);
      append(writer, 3);
    }
    assertThatThereAre(EMITTERS, EMITTERS);
  }

  @Test
  void whatFailsWhileTheyAreWrittenIsTriedAgain() throws Exception {
    AtomicInteger failures = new AtomicInteger(3);
    try (ArchiveWriter writer = open(step -> {
      if (step == StoreStep.ROWS_COPIED && failures.getAndDecrement() == 1) {
        throw new IllegalStateException("fails once");
      }
    })) {
      append(writer, 1);
      writer.roll();
      append(writer, 2);
      writer.roll();
      long later = System.nanoTime() + HOUR_NS;
      assertThatThrownBy(() -> writer.rollIfDue(later)).isInstanceOf(IllegalStateException.class);
      assertThatThereAre(0, 0);
      assertThatTheJournalHas(2);
      writer.rollIfDue(later);
      assertThatThereAre(EMITTERS, EMITTERS);
      assertThatTheJournalHas(0);
    }
  }
}
