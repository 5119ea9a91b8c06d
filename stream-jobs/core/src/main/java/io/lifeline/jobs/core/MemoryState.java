package io.lifeline.jobs.core;

import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/** State that is held in memory, and encoded and decoded as a whole. */
public final class MemoryState implements KeyedState {

  private final TreeMap<String, byte[]> entries = new TreeMap<>();

  @Override
  public byte[] get(String key) {
    return entries.get(key);
  }

  @Override
  public void put(String key, byte[] value) {
    entries.put(key, value);
  }

  @Override
  public void delete(String key) {
    entries.remove(key);
  }

  @Override
  public boolean deleteSome(String prefix, int most) {
    entries.subMap(prefix, true, prefix + Character.MAX_VALUE, true).clear();
    return true;
  }

  public void clear() {
    entries.clear();
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
    out.varint(entries.size());
    entries.forEach((key, value) -> out.text(key).blob(value));
  }

  public static MemoryState decode(StateReader in) {
    MemoryState state = new MemoryState();
    for (int left = in.count(2); left > 0; left--) {
      state.entries.put(in.text(), in.blob());
    }
    return state;
  }
}
