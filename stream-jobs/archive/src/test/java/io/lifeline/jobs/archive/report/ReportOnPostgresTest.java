package io.lifeline.jobs.archive.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.cli.ReportCommand;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.archive.postgres.PostgresArchive;
import io.lifeline.jobs.archive.postgres.PostgresOptions;
import io.lifeline.jobs.archive.postgres.PostgresUrl;
import io.lifeline.servers.PostgresServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Tests that the command {@code report} gives the same result for the same events in any archive. */
@Tag("system")
class ReportOnPostgresTest {
  @TempDir Path directory;

  private static void archive(Archive archive, List<byte[]> batches) throws Exception {
    try (ArchiveWriter writer = archive.open(rejection -> {
      throw new AssertionError(rejection.toString());
    })) {
      for (int i = 0; i < batches.size(); i++) {
        writer.append(Archives.at(i), batches.get(i));
      }
    }
  }

  /** Archives the batches in both archives; returns their common report. */
  private String report(TestInfo test, List<byte[]> batches, String... arguments) throws Exception {
    PostgresServer server = PostgresServer.shared();
    String schema = "report_" + test.getTestMethod().orElseThrow().getName().toLowerCase().substring(0, 20);
    archive(new ParquetArchive(ParquetOptions.in(directory)), batches);
    archive(new PostgresArchive(PostgresOptions.at(PostgresUrl.parse(server.url()))
        .withPasswordFile(server.passwordFile()).withSchema(schema)), batches);
    String parquet = run(List.of("--archive", directory.toString()), arguments);
    String postgres = run(List.of("--archive", server.url(), "--password-file", server.passwordFile().toString(),
        "--schema", schema), arguments);
    assertThat(postgres).isEqualTo(parquet);
    return postgres;
  }

  private static String run(List<String> archive, String... arguments) {
    List<String> all = new ArrayList<>(archive);
    all.addAll(Arrays.asList(arguments));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode = new CommandLine(new ReportCommand()).setOut(new PrintWriter(out)).setErr(new PrintWriter(err))
        .execute(all.toArray(String[]::new));
    assertThat(err.toString()).isEmpty();
    assertThat(exitCode).isZero();
    return out.toString();
  }

  @Test
  void ofACopyWithItsBottleneckAndItsPicture(TestInfo test) throws Exception {
    CopySimulation copy = new CopySimulation(400);
    copy.writeNs = CopySimulation.around(400_000, 3);
    Path picture = directory.resolve("lifelines.svg");
    assertThat(report(test, copy.batches(), "--svg", picture.toString()))
        .contains("bottleneck: disk-write (slowest, chance of error ");
    assertThat(picture).content().contains("48 of 400 blocks");
  }

  @Test
  void idsAndNumbersWhoseTypeChanged(TestInfo test) throws Exception {
    EventType start = EventType.named("odd.start").field("id", FieldType.STRING).build();
    EventType bytesEnd =
        EventType.named("odd.end").field("id", FieldType.BYTES).field("nbytes", FieldType.STRING).build();
    EventType numberEnd =
        EventType.named("odd.end").field("id", FieldType.I32).field("nbytes", FieldType.U64).build();
    EventType other = EventType.named("other.end").field("nbytes", FieldType.F64).build();
    byte[] batch = Archives.batch(new Incarnation(1, 2), 1).event(start, 0, "x")
        .event(bytesEnd, 1, new byte[] {1}, "many").event(start, 5, "7").event(numberEnd, 8, 7, 100)
        .event(start, 9, "8").event(numberEnd, 10, 8, -1L).event(other, 11, Double.NaN).toByteArray();
    assertThat(report(test, List.of(batch), "--json")).contains("\"stage\":\"odd\",\"count\":2,\"bytes\":100,");
  }

  @Test
  void ofBooksThatDoNotBalance(TestInfo test) throws Exception {
    BatchWriter batch = Archives.batch(new Incarnation(1, 2), 2).counter(Counter.EMITTED, 14)
        .counter(Counter.DROPPED_OVERSIZE, 9).finalBatch(true).event(Archives.SERIAL, 0, 1, 1);
    assertThat(report(test, List.of(batch.toByteArray()), "--emitted", "16"))
        .endsWith("ledger: emitted=16 archived=1 in_flight=0 dropped=9 missing=6 duplicated=0\n");
  }
}
