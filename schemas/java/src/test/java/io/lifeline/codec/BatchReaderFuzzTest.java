package io.lifeline.codec;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.AroundPropertyHook;
import net.jqwik.api.lifecycle.PropertyExecutionResult;
import net.jqwik.api.lifecycle.PropertyExecutor;
import net.jqwik.api.lifecycle.PropertyLifecycleContext;
import net.jqwik.api.statistics.Statistics;

/**
 * Damaged batches whose CRC was repaired. Whatever they hold, the reader accepts a batch whose every value can be read,
 * or rejects it with one of the format's codes. A longer run with other input: {@code mvn test
 * -Dtest=BatchReaderFuzzTest -Djqwik.tries.default=1000000 -Dlifeline.fuzz.seed=$RANDOM}.
 */
@AddLifecycleHook(BatchReaderFuzzTest.Seed.class)
class BatchReaderFuzzTest {
  private static final int LARGEST_SEED = 20_000;
  private static final List<byte[]> SEEDS =
      Vectors.valid().stream().map(Vectors::bytes).filter(batch -> batch.length <= LARGEST_SEED).toList();
  private static final Set<String> CODES =
      Arrays.stream(Fault.values()).map(fault -> fault.code).collect(Collectors.toSet());

  /** Values at which length and count checks tip over. */
  private static final int[] EDGES = {0, 1, 2, 7, 8, 9, 0x7f, 0x80, 0xff};

  /** The same input in each run, unless another seed is given. */
  static final class Seed implements AroundPropertyHook {
    @Override
    public PropertyExecutionResult aroundProperty(PropertyLifecycleContext context, PropertyExecutor property)
        throws Throwable {
      context.attributes().setSeed(System.getProperty("lifeline.fuzz.seed", "1"));
      return property.execute();
    }
  }

  private final BatchReader reader = new BatchReader();
  private final Walk walk = new Walk();

  /** One change of a batch: a byte overwritten, a run of bytes removed or repeated. */
  private static final class Damage {
    final int kind;
    final long place;
    final int value;

    Damage(int kind, long place, int value) {
      this.kind = kind;
      this.place = place;
      this.value = value;
    }

    byte[] applyTo(byte[] bytes) {
      if (bytes.length == 0) {
        return bytes;
      }
      int at = (int) (place % bytes.length);
      switch (kind) {
        case 0:
          byte[] changed = bytes.clone();
          changed[at] = (byte) value;
          return changed;
        case 1:
          byte[] flipped = bytes.clone();
          flipped[at] ^= (byte) (1 << (value & 7));
          return flipped;
        case 2:
          return cut(bytes, at, Math.min(bytes.length, at + 8));
        default:
          return insert(bytes, at, value);
      }
    }

    private static byte[] cut(byte[] bytes, int from, int to) {
      byte[] shorter = Arrays.copyOf(bytes, bytes.length - (to - from));
      System.arraycopy(bytes, to, shorter, from, bytes.length - to);
      return shorter;
    }

    private static byte[] insert(byte[] bytes, int at, int seed) {
      byte[] eight = new byte[8];
      new Random(seed).nextBytes(eight);
      byte[] longer = Arrays.copyOf(bytes, bytes.length + eight.length);
      System.arraycopy(bytes, at, longer, at + eight.length, bytes.length - at);
      System.arraycopy(eight, 0, longer, at, eight.length);
      return longer;
    }

    @Override
    public String toString() {
      return "kind " + kind + " at " + place + " value " + value;
    }
  }

  @Provide
  Arbitrary<byte[]> seeds() {
    return Arbitraries.of(SEEDS);
  }

  @Provide
  Arbitrary<List<Damage>> damages() {
    Arbitrary<Integer> values = Arbitraries.oneOf(Arbitraries.integers().between(0, 255), edges());
    // Half of the damage falls on the header, where most decisions are made.
    Arbitrary<Long> places =
        Arbitraries.oneOf(Arbitraries.longs().between(0, 400), Arbitraries.longs().between(0, 100_000));
    return Combinators.combine(Arbitraries.integers().between(0, 3), places, values)
        .as(Damage::new)
        .list()
        .ofMinSize(1)
        .ofMaxSize(4);
  }

  private static Arbitrary<Integer> edges() {
    return Arbitraries.of(Arrays.stream(EDGES).boxed().toList());
  }

  @Property
  void aDamagedBatchIsReadOrRejected(@ForAll("seeds") byte[] seed, @ForAll("damages") List<Damage> damages) {
    byte[] batch = seed;
    for (Damage damage : damages) {
      batch = damage.applyTo(batch);
    }
    if (batch.length >= BatchHeader.FIXED_LENGTH + BatchHeader.CRC_LENGTH) {
      batch = batch == seed ? batch.clone() : batch;
      Repair.crc(batch);
    }
    readOrReject(batch);
  }

  @Property
  void damagedEventsAreReadOrRejectedBehindEveryCompression(
      @ForAll("seeds") byte[] seed, @ForAll("damages") List<Damage> damages) throws RejectedBatchException {
    byte[] events = Repair.events(seed);
    for (Damage damage : damages) {
      events = damage.applyTo(events);
    }
    readOrReject(Repair.withEvents(seed, events));
  }

  @Property
  void noiseIsRejected(@ForAll byte[] noise) {
    readOrReject(noise);
  }

  private void readOrReject(byte[] batch) {
    try {
      walk.everything(reader.read(batch, 0, batch.length));
      Statistics.label("outcome").collect("read");
    } catch (RejectedBatchException e) {
      assertThat(CODES).contains(e.code());
      assertThat(e.offset()).isBetween(0, BatchReader.MAX_BATCH_BYTES + BatchHeader.MAX_RAW_BYTES);
      assertThat(e.getMessage()).isNotEmpty();
      Statistics.label("outcome").collect(e.code());
    }
  }
}
