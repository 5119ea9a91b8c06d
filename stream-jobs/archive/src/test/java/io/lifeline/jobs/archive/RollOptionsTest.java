package io.lifeline.jobs.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.archive.parquet.ParquetOptions;
import org.junit.jupiter.api.Test;

class RollOptionsTest {

  @Test
  void buffersLeaveMostOfTheHeapToOthers() {
    assertThat(ParquetOptions.DEFAULT_ROLL.within(128L << 20).bytes()).isEqualTo(32L << 20);
    assertThat(ParquetOptions.DEFAULT_ROLL.within(4L << 30)).isEqualTo(ParquetOptions.DEFAULT_ROLL);
  }
}
