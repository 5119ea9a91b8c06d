package io.lifeline.jobs.archive.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Locales with other digits (ar-EG) or another case mapping (tr-TR) leave no trace in an archive. */
class LocaleTest {
  private static final Incarnation EMITTER = new Incarnation(5, 6);

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(strings = {"ar-EG", "tr-TR", "fa-IR"})
  void anArchiveIsTheSameInEveryLocale(String tag) throws Exception {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag(tag));
    try {
      for (int run = 0; run < 2; run++) {
        try (ArchiveWriter writer = Archives.open(directory)) {
          assertThat(writer.nextOffset(0)).isEqualTo(run);
          writer.append(Archives.at(run), Archives.serials(EMITTER, run + 1, 10));
        }
      }
      new Compactor(ParquetOptions.in(directory).withThreads(1), 1 << 20, Duration.ofHours(1)).compact();
      assertThat(Archives.query(directory, "SELECT count(*) FROM \"test.serial\"")).containsExactly("20");
    } finally {
      Locale.setDefault(before);
    }
    try (Stream<Path> files = Files.walk(directory)) {
      List<String> names = files.map(file -> file.getFileName().toString()).toList();
      assertThat(names).allMatch(name -> name.chars().allMatch(c -> c < 128));
      assertThat(names).contains("0-00000000000000000000.json", "0-00000000000000000000.00000000000000000002.json");
    }
  }
}
