package io.lifeline.ksql;

import com.datadoghq.sketch.ddsketch.DDSketch;
import com.datadoghq.sketch.ddsketch.encoding.ByteArrayInput;
import com.datadoghq.sketch.ddsketch.encoding.GrowingByteArrayOutput;
import com.datadoghq.sketch.ddsketch.mapping.CubicallyInterpolatedMapping;
import com.datadoghq.sketch.ddsketch.mapping.IndexMapping;
import com.datadoghq.sketch.ddsketch.store.Store;
import io.lifeline.sketch.Bins;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Supplier;

/**
 * A mergeable sketch of values that estimates quantiles to 1 %, like those of the summaries, with exact extremes. As
 * bytes it is the aggregate's state in ksqlDB: empty for no values, else minimum, maximum and the sketch.
 */
final class Quantiles {

  private static final double RELATIVE_ACCURACY = 0.01;

  private static final IndexMapping MAPPING = new CubicallyInterpolatedMapping(RELATIVE_ACCURACY);
  private static final Supplier<Store> BINS = Bins::new;
  private static final double SKETCH_LIMIT = MAPPING.maxIndexableValue();

  private final DDSketch sketch;
  private double min;
  private double max;

  Quantiles() {
    this(new DDSketch(MAPPING, BINS), Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY);
  }

  private Quantiles(DDSketch sketch, double min, double max) {
    this.sketch = sketch;
    this.min = min;
    this.max = max;
  }

  /** Adds a value; ignores NaN and infinities, which have no place in the order. */
  void add(double value) {
    if (Double.isFinite(value)) {
      min = Math.min(min, value);
      max = Math.max(max, value);
      sketch.accept(Math.max(-SKETCH_LIMIT, Math.min(SKETCH_LIMIT, value)));
    }
  }

  void merge(Quantiles other) {
    min = Math.min(min, other.min);
    max = Math.max(max, other.max);
    sketch.mergeWith(other.sketch);
  }

  /**
   * Returns the value below which that share of the values lies; null if there are none. The shares 0 and 1 are exact.
   */
  Double at(double share) {
    if (sketch.isEmpty()) {
      return null;
    }
    return share == 0 ? min : share == 1 ? max : Math.max(min, Math.min(max, sketch.getValueAtQuantile(share)));
  }

  ByteBuffer toBytes() {
    if (sketch.isEmpty()) {
      return ByteBuffer.allocate(0);
    }
    GrowingByteArrayOutput bins = GrowingByteArrayOutput.withDefaultInitialCapacity();
    try {
      sketch.encode(bins, true);
    } catch (IOException e) {
      throw new IllegalStateException("a byte array refused to grow", e);
    }
    byte[] encoded = bins.trimmedCopy();
    ByteBuffer bytes = ByteBuffer.allocate(2 * Double.BYTES + encoded.length);
    return bytes.putDouble(min).putDouble(max).put(encoded).flip();
  }

  static Quantiles of(ByteBuffer state) {
    if (!state.hasRemaining()) {
      return new Quantiles();
    }
    ByteBuffer bytes = state.duplicate();
    double min = bytes.getDouble();
    double max = bytes.getDouble();
    try {
      return new Quantiles(DDSketch.decode(ByteArrayInput.wrap(Buffers.bytes(bytes)), BINS, MAPPING), min, max);
    } catch (IOException e) {
      throw new IllegalStateException("the state holds no quantile sketch where one belongs", e);
    }
  }
}
