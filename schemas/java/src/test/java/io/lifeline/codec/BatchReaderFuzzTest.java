package io.lifeline.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.cases.Cases;
import io.lifeline.cases.Damage;
import io.lifeline.cases.Inputs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Reads damaged batches whose CRC was repaired. The reader must either accept a batch whose every value can be read, or
 * reject it with one of the format's codes. Any other batch is saved in target. scripts/fuzz runs this for longer, and
 * with other input.
 */
class BatchReaderFuzzTest {
  private static final int LARGEST_SEED = 20_000;
  private static final Map<Path, byte[]> SEEDS =
      Vectors.valid().stream().collect(Collectors.toMap(Path::getFileName, Vectors::bytes));
  private static final Path[] FILES =
      SEEDS.keySet().stream().filter(file -> SEEDS.get(file).length <= LARGEST_SEED).sorted().toArray(Path[]::new);
  private static final Set<String> CODES =
      Arrays.stream(Fault.values()).map(fault -> fault.code).collect(Collectors.toSet());

  private final BatchReader reader = new BatchReader();
  private final Walk walk = new Walk();

  @Test
  void aDamagedBatchIsReadOrRejected() {
    Cases.each(1000, any -> {
      byte[] batch = Damage.of(SEEDS.get(any.of(FILES)), any);
      if (batch.length >= BatchHeader.FIXED_LENGTH + BatchHeader.CRC_LENGTH) {
        Repair.crc(batch);
      }
      readOrReject(batch);
    });
  }

  @Test
  void damagedEventsAreReadOrRejectedBehindEveryCompression() {
    Cases.each(1000, any -> {
      byte[] seed = SEEDS.get(any.of(FILES));
      readOrReject(Repair.withEvents(seed, Damage.of(Repair.events(seed), any)));
    });
  }

  @Test
  void noiseIsRejected() {
    Cases.each(1000, any -> readOrReject(any.bytes(255)));
  }

  private void readOrReject(byte[] batch) throws IOException {
    try {
      walk.everything(reader.read(batch, 0, batch.length));
    } catch (RejectedBatchException e) {
      assertThat(CODES).contains(e.code());
      assertThat(e.offset()).isBetween(0, BatchReader.MAX_BATCH_BYTES + BatchHeader.MAX_RAW_BYTES);
      assertThat(e.getMessage()).isNotEmpty();
    } catch (RuntimeException | AssertionError e) {
      Path file = Path.of("target", "fuzz-" + Integer.toHexString(Arrays.hashCode(batch)) + ".llb").toAbsolutePath();
      throw new AssertionError(Files.write(file, batch) + ": " + e, e);
    }
  }
}
