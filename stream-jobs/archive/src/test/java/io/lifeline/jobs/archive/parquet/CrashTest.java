package io.lifeline.jobs.archive.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.CrashContract;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CrashTest extends CrashContract {
  @TempDir Path directory;

  /** See {@link CrashContract#child}. */
  public static final class Child {
    public static void main(String[] arguments) throws Exception {
      ParquetOptions options = ParquetOptions.in(Path.of(arguments[1])).withThreads(1).withRareRows(EVENTS);
      archiveUntil(arguments[0],
          progress -> new ParquetArchive(options).open(rejection -> {}, progress::accept));
    }
  }

  @Override
  protected Class<?> child() {
    return Child.class;
  }

  @Override
  protected List<String> arguments() {
    return List.of(directory.toString());
  }

  @Override
  protected ArchiveWriter open() throws Exception {
    return Archives.open(directory);
  }

  @Override
  protected List<String> query(String sql) throws Exception {
    return Archives.query(directory, sql);
  }

  @ParameterizedTest
  @EnumSource(PublicationStep.class)
  void aWriterThatIsKilledAtAnyStepLeavesEachEventExactlyOnce(PublicationStep step) throws Exception {
    isKilledAt(step, step.compareTo(PublicationStep.MANIFEST_LINKED) >= 0);
    try (Stream<Path> files = Files.list(directory.resolve("data"))) {
      assertThat(files).allSatisfy(file -> assertThat(file.toString()).endsWith(".parquet"));
    }
  }
}
