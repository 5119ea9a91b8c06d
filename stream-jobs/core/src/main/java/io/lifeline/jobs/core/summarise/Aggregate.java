package io.lifeline.jobs.core.summarise;

import com.datadoghq.sketch.ddsketch.DDSketch;
import com.datadoghq.sketch.ddsketch.encoding.ByteArrayInput;
import com.datadoghq.sketch.ddsketch.encoding.GrowingByteArrayOutput;
import com.datadoghq.sketch.ddsketch.mapping.CubicallyInterpolatedMapping;
import com.datadoghq.sketch.ddsketch.mapping.IndexMapping;
import com.datadoghq.sketch.ddsketch.store.CollapsingLowestDenseStore;
import com.datadoghq.sketch.ddsketch.store.Store;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.io.IOException;
import java.util.function.Supplier;

/**
 * What is known of many values without keeping them: count, extremes, mean and variance (Welford's, merged by Chan's
 * rule) and a quantile sketch of 1 % relative error. Merging is commutative and associative, up to the last bits of the
 * floating-point sums. NaN and the infinities are counted apart and enter nothing else.
 */
public final class Aggregate {

  private static final double RELATIVE_ACCURACY = 0.01;
  /** Enough for values that span eighteen decimal orders of magnitude; below that, the lowest values share one bin. */
  private static final int MAX_BINS = 2048;

  private static final Supplier<Store> BINS = () -> new CollapsingLowestDenseStore(MAX_BINS);
  private static final IndexMapping MAPPING = new CubicallyInterpolatedMapping(RELATIVE_ACCURACY);
  private static final double SKETCH_LIMIT = MAPPING.maxIndexableValue();

  private long count;
  private long notANumber;
  private long positiveInfinity;
  private long negativeInfinity;
  private double min = Double.POSITIVE_INFINITY;
  private double max = Double.NEGATIVE_INFINITY;
  private double sum;
  private double mean;
  private double squaredDeviations;
  private DDSketch sketch = new DDSketch(MAPPING, BINS);

  public void add(double value) {
    if (!Double.isFinite(value)) {
      addNonFinite(value);
      return;
    }
    count++;
    min = Math.min(min, value);
    max = Math.max(max, value);
    sum += value;
    double delta = value - mean;
    mean += delta / count;
    squaredDeviations += delta * (value - mean);
    sketch.accept(Math.max(-SKETCH_LIMIT, Math.min(SKETCH_LIMIT, value)));
  }

  private void addNonFinite(double value) {
    if (Double.isNaN(value)) {
      notANumber++;
    } else if (value > 0) {
      positiveInfinity++;
    } else {
      negativeInfinity++;
    }
  }

  /** Takes in all that the other knows; the other stays as it is. */
  public void merge(Aggregate other) {
    notANumber += other.notANumber;
    positiveInfinity += other.positiveInfinity;
    negativeInfinity += other.negativeInfinity;
    if (other.count == 0) {
      return;
    }
    long both = count + other.count;
    double delta = other.mean - mean;
    squaredDeviations += other.squaredDeviations + delta * delta * ((double) count * other.count / both);
    mean += delta * ((double) other.count / both);
    count = both;
    sum += other.sum;
    min = Math.min(min, other.min);
    max = Math.max(max, other.max);
    sketch.mergeWith(other.sketch);
  }

  /** All values, also those that are not finite. */
  public long values() {
    return count + notANumber + positiveInfinity + negativeInfinity;
  }

  /** Finite values. */
  public long count() {
    return count;
  }

  public long notANumber() {
    return notANumber;
  }

  public long positiveInfinity() {
    return positiveInfinity;
  }

  public long negativeInfinity() {
    return negativeInfinity;
  }

  /** NaN if there is no finite value, like all that follow. */
  public double min() {
    return count == 0 ? Double.NaN : min;
  }

  public double max() {
    return count == 0 ? Double.NaN : max;
  }

  public double sum() {
    return sum;
  }

  public double mean() {
    return count == 0 ? Double.NaN : mean;
  }

  /** Of the sample: divided by n - 1; 0 for a single value. */
  public double standardDeviation() {
    return count == 0 ? Double.NaN : count == 1 ? 0 : Math.sqrt(squaredDeviations / (count - 1));
  }

  /** The value below which that share of the values lies, within 1 %, and never outside of what was seen. */
  public double quantile(double share) {
    return count == 0 ? Double.NaN : Math.max(min, Math.min(max, sketch.getValueAtQuantile(share)));
  }

  public void encode(StateWriter out) {
    out.varint(count).varint(notANumber).varint(positiveInfinity).varint(negativeInfinity);
    if (count > 0) {
      out.real(min).real(max).real(sum).real(mean).real(squaredDeviations);
      GrowingByteArrayOutput bytes = GrowingByteArrayOutput.withDefaultInitialCapacity();
      try {
        sketch.encode(bytes, true);
      } catch (IOException e) {
        throw new IllegalStateException("a byte array refused to grow", e);
      }
      out.blob(bytes.trimmedCopy());
    }
  }

  public static Aggregate decode(StateReader in) {
    Aggregate aggregate = new Aggregate();
    aggregate.count = in.varint();
    aggregate.notANumber = in.varint();
    aggregate.positiveInfinity = in.varint();
    aggregate.negativeInfinity = in.varint();
    if (aggregate.count > 0) {
      aggregate.min = in.real();
      aggregate.max = in.real();
      aggregate.sum = in.real();
      aggregate.mean = in.real();
      aggregate.squaredDeviations = in.real();
      try {
        aggregate.sketch = DDSketch.decode(ByteArrayInput.wrap(in.blob()), BINS, MAPPING);
      } catch (IOException e) {
        throw new IllegalStateException("the state holds no quantile sketch where one belongs", e);
      }
    }
    return aggregate;
  }
}
