package io.lifeline.jobs.archive.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("system")
class LatestTest {
  private static final EventType TYPE = EventType.named("numbers").field("id", FieldType.F64).field("f", FieldType.F32)
      .field("raw", FieldType.BYTES).constant("c", FieldType.F32, "", 0.1f)
      .constant("n", FieldType.F64, "", Double.NaN).build();
  private static final EventType FLOAT_ID = EventType.named("float").field("id", FieldType.F32).build();

  private final String schema = PostgresDatabases.newSchema();

  @Test
  void numbersAreWrittenAsInTheViewOverAllEvents() throws Exception {
    double[] doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 0.1, -0.0, 5, 1e-7, 1.5e20,
        1e300, 123_456_789_012_345.0, 1e15, Double.MIN_VALUE};
    try (ArchiveWriter writer =
        new PostgresArchive(PostgresDatabases.options(schema, PostgresOptions.DEFAULT_ROLL)).open(rejection -> {})) {
      for (int i = 0; i < doubles.length; i++) {
        writer.append(Archives.at(i), Archives.batch(new Incarnation(1, i), 1)
            .event(TYPE, 1, doubles[i], (float) doubles[i], new byte[] {(byte) 0xff})
            .event(FLOAT_ID, 2, (float) doubles[i]).toByteArray());
      }
    }
    String same = "SELECT count(*) FROM latest l JOIN events e USING (type, incarnation) WHERE l.id = e.id"
        + " AND l.fields = e.fields";
    assertThat(PostgresDatabases.query(schema, same)).containsExactly(Integer.toString(2 * doubles.length));
    assertThat(PostgresDatabases.query(schema, "SELECT id, fields FROM latest WHERE type = 'numbers' ORDER BY"
        + " incarnation LIMIT 4")).containsExactly(
            "NaN {\"c\": 0.1, \"f\": \"NaN\", \"n\": \"NaN\", \"id\": \"NaN\", \"raw\": \"\\\\xff\"}",
            "Infinity {\"c\": 0.1, \"f\": \"Infinity\", \"n\": \"NaN\", \"id\": \"Infinity\", \"raw\": \"\\\\xff\"}",
            "-Infinity {\"c\": 0.1, \"f\": \"-Infinity\", \"n\": \"NaN\", \"id\": \"-Infinity\","
                + " \"raw\": \"\\\\xff\"}",
            "0.1 {\"c\": 0.1, \"f\": 0.1, \"n\": \"NaN\", \"id\": 0.1, \"raw\": \"\\\\xff\"}");
  }
}
