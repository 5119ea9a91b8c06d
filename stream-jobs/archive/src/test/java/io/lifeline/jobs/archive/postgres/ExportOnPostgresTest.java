package io.lifeline.jobs.archive.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.cases.Hostile;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.EventReader;
import io.lifeline.jobs.archive.EventSelection;
import io.lifeline.jobs.archive.SessionScene;
import io.lifeline.jobs.archive.export.Events;
import io.lifeline.jobs.core.Glob;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Reads events of a database in order of time. */
@Tag("system")
class ExportOnPostgresTest {
  private static final long FIRST = 1_790_000_000_000_000_000L;

  private final PostgresOptions options;

  ExportOnPostgresTest() throws Exception {
    options = PostgresDatabases.options(PostgresDatabases.newSchema(), PostgresOptions.DEFAULT_ROLL);
  }

  private void archive(List<byte[]> batches) throws Exception {
    try (ArchiveWriter writer = new PostgresArchive(options).open(rejection -> {
      throw new AssertionError(rejection.toString());
    })) {
      for (byte[] batch : batches) {
        writer.append(Archives.at(writer.nextOffset(0)), batch);
      }
    }
  }

  private List<String> read(EventSelection selection) throws Exception {
    try (EventReader reader = PostgresEvents.open(options)) {
      return Events.of(reader, selection);
    }
  }

  /** PostgreSQL's text has no NUL, and its JSON no negative zero. */
  private static List<String> asStored(List<String> lines) {
    return lines.stream().map(line -> line.replace('\0', '\uFFFD').replace("=-0.0;", "=0.0;")).toList();
  }

  @Test
  void readingGivesTheEventsOfTheBatches() throws Exception {
    List<byte[]> batches = new ArrayList<>();
    for (Hostile each : Hostile.kept()) {
      batches.addAll(each.batches());
    }
    archive(batches);
    assertThat(asStored(read(EventSelection.ALL))).containsExactlyElementsOf(asStored(Events.of(batches)));
  }

  @Test
  void aSelectionIsOfTypesProgramsHostsTimesAndACondition() throws Exception {
    EventType read = EventType.named("disk.read").field("id", FieldType.U64).build();
    EventType send = EventType.named("net_send").field("id", FieldType.U64).build();
    byte[] first = Archives.batch(new Incarnation(1, 1), 1).host("a_b").program("50%")
        .event(read, 10, 1).event(send, 2_000, 2).toByteArray();
    byte[] second = Archives.batch(new Incarnation(1, 2), 1).host("axb").program("500")
        .event(read, 3_000, 3).event(send, 4_001, 4).toByteArray();
    archive(List.of(first, second));
    List<String> all = Events.of(List.of(first, second));
    assertThat(read(EventSelection.ALL)).isEqualTo(all);
    assertThat(read(new EventSelection(List.of(Glob.of("disk*")), "50*", "*b", null, null, null)))
        .containsExactly(all.get(0), all.get(2));
    assertThat(read(new EventSelection(List.of(Glob.of("nothing")), null, null, null, null, null))).isEmpty();
    assertThat(read(new EventSelection(List.of(), "50%", "a_b", null, null, null)))
        .containsExactly(all.get(0), all.get(1));
    assertThat(read(new EventSelection(List.of(), null, null, FIRST + 2_000, FIRST + 4_001, null)))
        .containsExactly(all.get(1), all.get(2));
    assertThat(read(new EventSelection(List.of(), null, null, Long.MIN_VALUE, Long.MAX_VALUE, "id = '4' -- last")))
        .containsExactly(all.get(3));
  }

  @Test
  void aSessionIsSelectedWithWhatItsHostsDidMeanwhile() throws Exception {
    SessionScene.archive(new PostgresArchive(options).open(rejection -> {}));
    EventSelection inner = new EventSelection(List.of(), null, null, null, null, null, SessionScene.INNER);
    assertThat(read(inner)).hasSize(4).allMatch(line -> line.contains("|b|"));
    assertThat(read(new EventSelection(List.of(), null, null, null, null, null, SessionScene.OUTER))).hasSize(9);
    assertThat(read(new EventSelection(List.of(), null, null, null, null, null, "' OR '1' = '1"))).isEmpty();
  }
}
