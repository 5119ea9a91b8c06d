package io.lifeline.jobs.core.bottleneck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.lifeline.jobs.core.JsonWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Tests the rule on simulated copies; {@code scripts/validate-bottleneck} runs more of them and stores the results. */
class ValidationTest {

  private static final int RUNS = Integer.getInteger("lifeline.validation.runs", 5);
  private static final String OUTPUT = System.getProperty("lifeline.validation.output");

  @TestFactory
  Stream<DynamicTest> theTruthIsFoundIn() throws IOException {
    List<Validation.Row> rows = Validation.run(RUNS);
    if (OUTPUT != null) {
      write(rows, Path.of(OUTPUT));
    }
    return rows.stream()
        .map(
            row ->
                dynamicTest(
                    row.scenario().name(),
                    () -> assertThat(row.shareRight()).as(row.ours().toString()).isGreaterThanOrEqualTo(0.8)));
  }

  private static void write(List<Validation.Row> rows, Path file) throws IOException {
    JsonWriter json = new JsonWriter().beginObject().name("rows").beginArray();
    rows.forEach(row -> row.write(json));
    Files.write(file, json.endArray().endObject().toBytes());
  }
}
