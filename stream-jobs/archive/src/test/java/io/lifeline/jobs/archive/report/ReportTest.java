package io.lifeline.jobs.archive.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.sql.ArchiveDatabase;
import io.lifeline.jobs.core.bottleneck.Answer;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class ReportTest {
  private static final EventType START = EventType.named("step.start").field("id", FieldType.U64).build();
  private static final EventType END =
      EventType.named("step.end").field("id", FieldType.U64).field("nbytes", FieldType.U64).build();
  private static final Incarnation EMITTER = new Incarnation(1, 2);

  @TempDir Path directory;

  private Report report(Long emitted) throws Exception {
    try (ArchiveDatabase database = ArchiveDatabase.open(directory)) {
      return Report.of(database, emitted);
    }
  }

  private void archive(byte[]... batches) throws Exception {
    try (ArchiveWriter writer = Archives.open(directory)) {
      for (byte[] batch : batches) {
        writer.append(Archives.at(writer.nextOffset(0)), batch);
      }
    }
  }

  @Test
  void startsAndEndsArePairedByEmitterThreadAndIdAlsoWhereIdsRepeat() throws Exception {
    archive(
        Archives.batch(EMITTER, 1)
            .thread(1).event(START, 0, 5).event(END, 10, 5, 100).event(START, 20, 5).event(END, 50, 5, 300)
            .thread(2).event(START, 5, 5).event(END, 25, 5, 200)
            .event(START, 90, 6).toByteArray(),
        Archives.batch(new Incarnation(9, 9), 1).event(END, 95, 6, 1).toByteArray());
    List<StageRow> stages = report(null).stages();
    assertThat(stages).hasSize(1);
    StageRow step = stages.get(0);
    assertThat(step.operation()).isEqualTo("step");
    assertThat(step.count()).isEqualTo(3);
    assertThat(step.bytes()).isEqualTo(600);
    assertThat(step.meanNs()).isEqualTo(20);
    assertThat(step.p50Ns()).isEqualTo(20);
    assertThat(step.p99Ns()).isEqualTo(30);
    assertThat(step.bytesPerSecond()).isCloseTo(1e10, within(1.0));
    assertThat(step.busyShare()).as("the union of 0-10, 5-25 and 20-50").isEqualTo(1.0);
  }

  @Test
  void idsOfOddTypesDoNotSpoilTheReport() throws Exception {
    EventType textStart = EventType.named("odd.start").field("id", FieldType.STRING).build();
    EventType bytesEnd =
        EventType.named("odd.end").field("id", FieldType.BYTES).field("nbytes", FieldType.STRING).build();
    EventType numberEnd = EventType.named("odd.end").field("id", FieldType.I32).build();
    archive(Archives.batch(EMITTER, 1).event(textStart, 0, "x").event(bytesEnd, 1, new byte[] {1}, "many")
        .event(textStart, 5, "7").event(numberEnd, 8, 7).toByteArray());
    assertThat(report(null).stages()).extracting(StageRow::operation, StageRow::count, StageRow::meanNs)
        .containsExactly(tuple("odd", 1L, 3.0));
  }

  @Test
  void gapsBetweenOperationsAreNotBusy() throws Exception {
    archive(Archives.batch(EMITTER, 1).event(START, 0, 1).event(END, 10, 1, 1).event(START, 30, 2).event(END, 40, 2, 1)
        .toByteArray());
    assertThat(report(null).stages().get(0).busyShare()).isEqualTo(0.5);
  }

  @Test
  void whatIsNotHereIsInFlightUntilTheEmittersHaveSaidTheirLastWord() throws Exception {
    archive(Archives.batch(EMITTER, 1).counter(Counter.EMITTED, 10).counter(Counter.DROPPED_OVERSIZE, 9)
        .event(START, 0, 1).toByteArray());
    assertThat(report(null).ledger()).isEqualTo(new LedgerLine(10, 1, 0, 9, 0, 0));
    assertThat(report(12L).ledger()).isEqualTo(new LedgerLine(12, 1, 2, 9, 0, 0));
    archive(Archives.batch(EMITTER, 3).counter(Counter.EMITTED, 14).counter(Counter.DROPPED_OVERSIZE, 9)
        .finalBatch(true).event(START, 0, 1).toByteArray());
    assertThat(report(14L).ledger()).as("batch 2 is lost").isEqualTo(new LedgerLine(14, 2, 0, 9, 3, 0));
    assertThat(report(16L).ledger()).isEqualTo(new LedgerLine(16, 2, 0, 9, 5, 0));
  }

  @Test
  void rowsThatAreThereTwiceAreFoundInTheDataAndNotInCounters() throws Exception {
    archive(Archives.serials(EMITTER, 1, 10));
    String first = "0-00000000000000000000";
    String second = "0-00000000000000000001";
    Path data = directory.resolve("data");
    for (String name : data.toFile().list()) {
      Files.copy(data.resolve(name), data.resolve(name.replace(first, second)));
    }
    String manifest = Files.readString(directory.resolve("manifests/" + first + ".json"));
    Files.writeString(directory.resolve("manifests/" + second + ".json"),
        manifest.replace("\"from\":0,\"to\":1", "\"from\":1,\"to\":2").replace(first, second));
    LedgerLine ledger = report(10L).ledger();
    assertThat(ledger.duplicated()).isEqualTo(10);
    assertThat(ledger.archived()).isEqualTo(20);
    assertThat(ledger.balances()).isFalse();
  }

  @Test
  void thePictureHasALineForEachBlockOfTheSampleAndEachEvent() throws Exception {
    CopySimulation copy = new CopySimulation(500);
    copy.archive(directory);
    Document svg = DocumentBuilderFactory.newInstance().newDocumentBuilder()
        .parse(new InputSource(new StringReader(report(null).lifelinesSvg())));
    int lines = 0;
    for (int i = 0; i < svg.getElementsByTagName("polyline").getLength(); i++) {
      String kind = svg.getElementsByTagName("polyline").item(i).getAttributes().getNamedItem("class").getNodeValue();
      lines += kind.equals("wait") ? 1 : 0;
    }
    assertThat(lines).isEqualTo(48 + 16);
    String text = svg.getDocumentElement().getTextContent();
    assertThat(text).contains("48 of 500 blocks", "prefers-color-scheme: dark");
    Lifeline.EVENTS.forEach(event -> assertThat(text).contains(event));
  }

  private static final EventType READ_START =
      EventType.named("disk.read.start").field("id", FieldType.U64).build();
  private static final EventType READ_END =
      EventType.named("disk.read.end").field("id", FieldType.U64).field("nbytes", FieldType.U64).build();
  private static final EventType WRITE_START =
      EventType.named("disk.write.start").field("id", FieldType.U64).build();
  private static final EventType WRITE_END =
      EventType.named("disk.write.end").field("id", FieldType.U64).field("nbytes", FieldType.U64).build();

  /** Returns a minute of a copy that takes 20 ms for a block; its blocks have the same ids in each session. */
  private static byte[] copy(Incarnation emitter, String session, String program, int readers, long readMs, int writers,
      long writeMs) {
    BatchWriter batch = Archives.batch(emitter, 1).program(program).context("session", session).finalBatch(true);
    for (int thread = 0; thread < readers + writers; thread++) {
      boolean isReader = thread < readers;
      int threads = isReader ? readers : writers;
      batch.thread(thread + 1);
      for (int block = isReader ? thread : thread - readers; block < 3_000; block += threads) {
        long startNs = block * 20_000_000L;
        batch.event(isReader ? READ_START : WRITE_START, startNs, block);
        batch.event(isReader ? READ_END : WRITE_END, startNs + (isReader ? readMs : writeMs) * 1_000_000, block, 4096);
      }
    }
    return batch.toByteArray();
  }

  @Test
  void eachSessionHasItsOwnBottleneckByTheThreadsOfItsStages() throws Exception {
    archive(
        copy(new Incarnation(1, 1), "one", "copy", 1, 20, 4, 32),
        copy(new Incarnation(2, 2), "two", "copy", 4, 32, 1, 20),
        copy(new Incarnation(3, 3), "two", "other", 1, 1, 1, 1));
    assertThat(report(null).bottlenecks()).extracting(Bottleneck::group, Bottleneck::component)
        .containsExactly(tuple("session=one", "disk-read"), tuple("session=two", null));
    assertThat(report(null).sentence()).isEqualTo("none (each of 2 sessions or programs has its own: choose one)");
    assertThat(selected("one", null).sentence()).startsWith("disk-read (slowest, chance of error ")
        .endsWith("; use: disk-read 98 % of 1 thread, disk-write 39 % of 4 threads)");
    assertThat(selected("two", "cop*").component()).isEqualTo("disk-write");
    assertThat(selected(null, "other").component()).isNull();
    assertThat(selected("none", null).bottlenecks()).isEmpty();
  }

  private Report selected(String session, String program) throws Exception {
    try (ArchiveDatabase database = ArchiveDatabase.open(directory)) {
      return Report.of(database, new Report.Selection(session, program, Report.Selection.ALL.settings()), null);
    }
  }

  @Test
  void calipersReportsAreSamplesToo() throws Exception {
    EventType summary = EventType.named("lifeline.summary").field("type", FieldType.STRING)
        .field("field", FieldType.STRING).field("interval", FieldType.U64, "ns").field("count", FieldType.U64)
        .field("sum", FieldType.F64)
        .field("variance", FieldType.F64).field("threads", FieldType.U32).build();
    BatchWriter batch = Archives.batch(EMITTER, 1).finalBatch(true).thread(1);
    long second = 1_000_000_000L;
    for (int i = 1; i <= 12; i++) {
      for (String[] part : new String[][] {{"disk.read", "1", "0.97"}, {"disk.write", "4", "1.8"}}) {
        long threads = Long.parseLong(part[1]);
        double workNs = Double.parseDouble(part[2]) * second;
        batch.event(summary, i * second, part[0], "duration", second, 100, workNs, 0.0, threads);
        batch.event(summary, i * second, part[0], "value", second, 100, 1e6 + i, 0.0, threads);
      }
    }
    archive(batch.toByteArray());
    assertThat(report(null).sentence()).endsWith("use: disk-read 97 % of 1 thread, disk-write 45 % of 4 threads)");
    assertThat(report(null).component()).isEqualTo("disk-read");
  }

  @Test
  void aUseThatIsUnknownIsSaidToBe() {
    Answer answer = new Answer(null, "too_little", List.of(), 1, List.of(),
        List.of(new Answer.Part("disk-read", 1, Double.NaN, 0)));
    assertThat(new Bottleneck("all", 1_000_000_000, answer).sentence()).endsWith("; use: disk-read unknown)");
  }
}
