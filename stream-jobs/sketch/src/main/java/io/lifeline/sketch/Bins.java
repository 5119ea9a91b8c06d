package io.lifeline.sketch;

import com.datadoghq.sketch.ddsketch.encoding.Flag;
import com.datadoghq.sketch.ddsketch.encoding.Output;
import com.datadoghq.sketch.ddsketch.store.Bin;
import com.datadoghq.sketch.ddsketch.store.BinAcceptor;
import com.datadoghq.sketch.ddsketch.store.CollapsingLowestDenseStore;
import com.datadoghq.sketch.ddsketch.store.SparseStore;
import com.datadoghq.sketch.ddsketch.store.Store;
import java.io.IOException;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;

/**
 * The bins of a sketch: side by side while they are near each other, as those of most measurements, else in a map. So
 * an outlier such as UINT64_MAX for "not measured" costs the other values nothing. The lowest bins share one only where
 * more than {@link #MOST} have values.
 */
public final class Bins implements Store {
  public static final int MOST = 2048;

  /** Null once the bins are in the map. */
  private Store dense = new CollapsingLowestDenseStore(MOST);

  private TreeMap<Integer, double[]> sparse;
  private int first = Integer.MAX_VALUE;
  private int last = Integer.MIN_VALUE;

  @Override
  public void add(int index) {
    add(index, 1.0);
  }

  @Override
  public void add(int index, double count) {
    if (count == 0) {
      return;
    }
    if (index < first || index > last) {
      extend(index, index);
    }
    if (dense != null) {
      dense.add(index, count);
    } else {
      addSparse(index, count);
    }
  }

  /** Extends the range of bins, which may be too wide for bins side by side from now on. */
  private void extend(int from, int to) {
    first = Math.min(first, from);
    last = Math.max(last, to);
    if (dense != null && last - first >= MOST) {
      sparse = new TreeMap<>();
      dense.forEach(this::addSparse);
      dense = null;
    }
  }

  private void addSparse(int index, double count) {
    double[] bin = sparse.get(index);
    if (bin != null) {
      bin[0] += count;
      return;
    }
    sparse.put(index, new double[] {count});
    if (sparse.size() > MOST) {
      double lowest = sparse.pollFirstEntry().getValue()[0];
      sparse.firstEntry().getValue()[0] += lowest;
    }
  }

  @Override
  public void mergeWith(Store store) {
    if (store instanceof Bins && !store.isEmpty()) {
      Bins other = (Bins) store;
      extend(other.first, other.last);
      if (dense != null && other.dense != null) {
        dense.mergeWith(other.dense);
        return;
      }
    }
    store.forEach(this::add);
  }

  @Override
  public Store copy() {
    Bins copy = new Bins();
    copy.mergeWith(this);
    return copy;
  }

  @Override
  public void clear() {
    dense = new CollapsingLowestDenseStore(MOST);
    sparse = null;
    first = Integer.MAX_VALUE;
    last = Integer.MIN_VALUE;
  }

  @Override
  public boolean isEmpty() {
    return first > last;
  }

  @Override
  public double getTotalCount() {
    return dense != null ? dense.getTotalCount() : sparse.values().stream().mapToDouble(bin -> bin[0]).sum();
  }

  @Override
  public int getMinIndex() {
    return dense != null ? dense.getMinIndex() : sparse.firstKey();
  }

  @Override
  public int getMaxIndex() {
    return dense != null ? dense.getMaxIndex() : sparse.lastKey();
  }

  @Override
  public void forEach(BinAcceptor acceptor) {
    if (dense != null) {
      dense.forEach(acceptor);
    } else {
      sparse.forEach((index, bin) -> acceptor.accept(index, bin[0]));
    }
  }

  @Override
  public Iterator<Bin> getAscendingIterator() {
    return dense != null ? dense.getAscendingIterator() : bins(sparse);
  }

  @Override
  public Iterator<Bin> getDescendingIterator() {
    return dense != null ? dense.getDescendingIterator() : bins(sparse.descendingMap());
  }

  private static Iterator<Bin> bins(Map<Integer, double[]> map) {
    return map.entrySet().stream().map(bin -> new Bin(bin.getKey(), bin.getValue()[0])).iterator();
  }

  @Override
  public void encode(Output output, Flag.Type type) throws IOException {
    Store encoded = dense;
    if (encoded == null) {
      encoded = new SparseStore();
      forEach(encoded::add);
    }
    encoded.encode(output, type);
  }
}
