package io.lifeline.jobs.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ArchiveWatchTest {
  private final AtomicLong now = new AtomicLong();
  private final ArchiveWatch watch = new ArchiveWatch(
      new ParquetArchive(ParquetOptions.in(Path.of("none"))), Duration.ofSeconds(60), now::get);

  private void pass(int seconds) {
    now.addAndGet(seconds * 1_000_000_000L);
  }

  @Test
  void aThreadThatHangsIsNoticed() {
    watch.alive(false);
    pass(119);
    assertThat(watch.trouble()).isNull();
    pass(2);
    assertThat(watch.trouble()).isEqualTo("stalled: no progress for 121 s; the archive or the broker does not answer");
    watch.alive(false);
    assertThat(watch.trouble()).isNull();
    assertThat(watch.secondsSinceStored()).isZero();
  }

  @Test
  void dataThatIsNotStoredIsNoticed() {
    for (int i = 0; i < 13; i++) {
      assertThat(watch.trouble()).isNull();
      watch.alive(true);
      pass(10);
    }
    watch.alive(true);
    assertThat(watch.secondsSinceStored()).isEqualTo(130);
    assertThat(watch.trouble()).isEqualTo("stalled: nothing was stored for 130 s");
    watch.stored();
    assertThat(watch.trouble()).isNull();
    pass(5);
    assertThat(watch.secondsSinceStored()).as("of what was read since").isEqualTo(5);
  }
}
