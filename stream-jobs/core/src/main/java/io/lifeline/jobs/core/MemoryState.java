package io.lifeline.jobs.core;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;

/** State that is held in memory, and encoded as a whole or as the changes since it was last stored. */
public final class MemoryState implements KeyedState {

  private final TreeMap<String, byte[]> entries = new TreeMap<>();

  /** Keys that were put or deleted since {@link #markStored}. */
  private final TreeSet<String> changed = new TreeSet<>();

  @Override
  public byte[] get(String key) {
    return entries.get(key);
  }

  @Override
  public void put(String key, byte[] value) {
    entries.put(key, value);
    changed.add(key);
  }

  @Override
  public void delete(String key) {
    if (entries.remove(key) != null) {
      changed.add(key);
    }
  }

  @Override
  public boolean deleteSome(String prefix, int most) {
    List.copyOf(entries.subMap(prefix, true, prefix + Character.MAX_VALUE, true).keySet()).forEach(this::delete);
    return true;
  }

  /** Makes the state as new, for a user that never stores it. */
  public void clear() {
    entries.clear();
    changed.clear();
  }

  @Override
  public void scan(String prefix, BiConsumer<String, byte[]> visitor) {
    for (Map.Entry<String, byte[]> entry : entries.tailMap(prefix, true).entrySet()) {
      if (!entry.getKey().startsWith(prefix)) {
        return;
      }
      visitor.accept(entry.getKey(), entry.getValue());
    }
  }

  public void encode(StateWriter out) {
    encode(entries, out);
  }

  /** Writes what {@link #apply} needs to turn the state at the last {@link #markStored} into this one. */
  public void encodeChanges(StateWriter out) {
    TreeMap<String, byte[]> put = new TreeMap<>();
    TreeSet<String> deleted = new TreeSet<>();
    for (String key : changed) {
      byte[] value = entries.get(key);
      if (value == null) {
        deleted.add(key);
      } else {
        put.put(key, value);
      }
    }
    encode(put, out);
    out.varint(deleted.size());
    deleted.forEach(out::text);
  }

  /** Returns whether {@link #encode} would write hardly more than {@link #encodeChanges}. */
  public boolean isMostlyChanged() {
    return changed.size() > entries.size() / 2;
  }

  /** Takes the present values for stored: they are not among the next changes. */
  public void markStored() {
    changed.clear();
  }

  /** Reads back what {@link #encodeChanges} wrote. */
  public void apply(StateReader in) {
    applyWhole(in);
    for (int left = in.count(1); left > 0; left--) {
      delete(in.text());
    }
  }

  /** Reads back what {@link #encode} wrote, onto an empty state. */
  public void applyWhole(StateReader in) {
    for (int left = in.count(2); left > 0; left--) {
      put(in.text(), in.blob());
    }
  }

  /** As {@link #applyWhole}. */
  public static MemoryState decode(StateReader in) {
    MemoryState state = new MemoryState();
    state.applyWhole(in);
    return state;
  }

  private static void encode(Map<String, byte[]> values, StateWriter out) {
    out.varint(values.size());
    values.forEach((key, value) -> out.text(key).blob(value));
  }
}
