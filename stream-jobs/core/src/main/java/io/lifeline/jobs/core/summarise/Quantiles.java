package io.lifeline.jobs.core.summarise;

import com.datadoghq.sketch.ddsketch.DDSketch;
import com.datadoghq.sketch.ddsketch.encoding.ByteArrayInput;
import com.datadoghq.sketch.ddsketch.encoding.GrowingByteArrayOutput;
import com.datadoghq.sketch.ddsketch.mapping.CubicallyInterpolatedMapping;
import com.datadoghq.sketch.ddsketch.mapping.IndexMapping;
import com.datadoghq.sketch.ddsketch.store.Store;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import io.lifeline.sketch.Bins;
import java.io.IOException;
import java.util.function.Supplier;

/** A quantile sketch of 1 % relative error (DDSketch) for finite values. */
final class Quantiles {

  private static final double RELATIVE_ACCURACY = 0.01;
  /** Columns that span more bins are not counted by bin first, but added value by value. */
  private static final int MAX_COUNTED_BINS = 4 * Bins.MOST;

  private static final Supplier<Store> BINS = Bins::new;
  private static final CubicallyInterpolatedMapping MAPPING = new CubicallyInterpolatedMapping(RELATIVE_ACCURACY);
  private static final IndexMapping ANY_MAPPING = MAPPING;
  private static final double LARGEST = MAPPING.maxIndexableValue();
  private static final double SMALLEST = MAPPING.minIndexableValue();

  private final DDSketch sketch;

  Quantiles() {
    this(new DDSketch(ANY_MAPPING, BINS));
  }

  private Quantiles(DDSketch sketch) {
    this.sketch = sketch;
  }

  void add(double value) {
    sketch.accept(Math.max(-LARGEST, Math.min(LARGEST, value)));
  }

  /**
   * Adds the values from one index to another (exclusive). They are counted by bin first, since incrementing a counter
   * in an array is much faster than adding a value to the sketch.
   */
  void add(double[] values, int from, int to) {
    double least = LARGEST;
    double most = SMALLEST;
    for (int i = from; i < to; i++) {
      double magnitude = Math.abs(values[i]);
      if (magnitude < least && magnitude > SMALLEST) {
        least = magnitude;
      }
      if (magnitude > most) {
        most = magnitude;
      }
    }
    int first = MAPPING.index(least);
    int bins = MAPPING.index(Math.min(most, LARGEST)) - first + 1;
    if (most > LARGEST || bins > Math.min(MAX_COUNTED_BINS, to - from)) {
      for (int i = from; i < to; i++) {
        add(values[i]);
      }
      return;
    }
    int zeros = 0;
    int[] counts = new int[2 * Math.max(bins, 0)]; // of positive and negative values, alternating
    for (int i = from; i < to; i++) {
      double magnitude = Math.abs(values[i]);
      if (magnitude > SMALLEST) {
        counts[2 * (MAPPING.index(magnitude) - first) + sign(values[i])]++;
      } else {
        zeros++;
      }
    }
    if (zeros > 0) {
      sketch.accept(0, zeros);
    }
    addBins(sketch.getPositiveValueStore(), first, counts, 0);
    addBins(sketch.getNegativeValueStore(), first, counts, 1);
  }

  /** Returns 1 for a negative value, otherwise 0, without a branch: the processor could not predict it. */
  private static int sign(double value) {
    return (int) (Double.doubleToRawLongBits(value) >>> 63);
  }

  /** Adds the highest bins first, since a store that has to collapse merges its lowest bins. */
  private static void addBins(Store store, int first, int[] counts, int sign) {
    for (int i = counts.length / 2 - 1; i >= 0; i--) {
      int count = counts[2 * i + sign];
      if (count != 0) {
        store.add(first + i, (double) count);
      }
    }
  }

  void merge(Quantiles other) {
    sketch.mergeWith(other.sketch);
  }

  /** Returns the value below which that share of the values lies; there must be at least one value. */
  double at(double share) {
    return sketch.getValueAtQuantile(share);
  }

  void encode(StateWriter out) {
    GrowingByteArrayOutput bytes = GrowingByteArrayOutput.withDefaultInitialCapacity();
    try {
      sketch.encode(bytes, true);
    } catch (IOException e) {
      throw new IllegalStateException("a byte array refused to grow", e);
    }
    out.blob(bytes.trimmedCopy());
  }

  static Quantiles decode(StateReader in) {
    try {
      return new Quantiles(DDSketch.decode(ByteArrayInput.wrap(in.blob()), BINS, ANY_MAPPING));
    } catch (IOException e) {
      throw new IllegalStateException("the state holds no quantile sketch where one belongs", e);
    }
  }
}
