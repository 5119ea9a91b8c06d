package io.lifeline.jobs.archive.export;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.cases.Hostile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An export has the same lines as lifeline-cat, of which {@code schemas/vectors/text} has those of hostile batches. */
class TextVectorsTest {
  private static final Path TEXT = Path.of("..", "..", "schemas", "vectors", "text");
  private static final int MAX_BYTES = 8192;
  private static final Pattern HARMFUL =
      Pattern.compile("[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]");

  @TempDir Path directory;

  @ParameterizedTest
  @EnumSource(names = {"JSON", "BP", "ULM"})
  void hostileBatchesBecomeTheLinesThatLifelineCatWrites(ExportFormat format) throws Exception {
    Exports exports = new Exports(directory);
    List<byte[]> batches = new ArrayList<>();
    for (Hostile each : Hostile.kept()) {
      each.batches().stream().filter(batch -> batch.length < MAX_BYTES).forEach(batches::add);
    }
    exports.archive(batches, 10_000);
    List<String> lines = List.of(exports.text(format).split("\n"));
    String vector = Files.readString(TEXT.resolve("hostile." + format.name().toLowerCase(Locale.ROOT)));
    assertThat(lines).noneMatch(line -> HARMFUL.matcher(line).find());
    assertThat(lines.stream().map(TextVectorsTest::archived).sorted())
        .containsExactlyElementsOf(Pattern.compile("\n").splitAsStream(vector).map(TextVectorsTest::archived)
            .sorted().toList());
  }

  /** Archives replace NUL in names by U+FFFD, whose three bytes BP and ULM do not have in names, either. */
  private static String archived(String line) {
    return line.replace("\\u0000", "\uFFFD").replaceAll("_+", "_");
  }

  @Test
  void numbersReadBackAsTheSameValue() {
    Random random = new Random(1);
    for (int i = 0; i < 20_000; i++) {
      double value = Double.longBitsToDouble(random.nextLong());
      float single = Float.intBitsToFloat(random.nextInt());
      for (double number : new double[] {value, random.nextInt() / 1000.0, random.nextLong(), single}) {
        if (Double.isFinite(number)) {
          StringBuilder text = new StringBuilder();
          NumberText.append(text, number);
          assertThat(Double.parseDouble(text.toString())).isEqualTo(number);
        }
      }
      if (Float.isFinite(single)) {
        StringBuilder text = new StringBuilder();
        NumberText.append(text, single);
        assertThat(Float.parseFloat(text.toString())).isEqualTo(single);
      }
    }
  }
}
