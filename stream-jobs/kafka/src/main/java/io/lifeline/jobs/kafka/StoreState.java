package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.RarelyRead;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * A job's state in a logged Kafka Streams store, whose changelog commits with the input's offsets. Values that are
 * rarely read may have a separate store on disk.
 */
public final class StoreState implements KeyedState {

  private final KeyValueStore<String, byte[]> store;
  private final KeyValueStore<String, byte[]> rarelyRead;

  public StoreState(KeyValueStore<String, byte[]> store) {
    this(store, store);
  }

  StoreState(KeyValueStore<String, byte[]> store, KeyValueStore<String, byte[]> rarelyRead) {
    this.store = store;
    this.rarelyRead = rarelyRead;
  }

  private KeyValueStore<String, byte[]> store(String key) {
    return RarelyRead.isKey(key) ? rarelyRead : store;
  }

  @Override
  public byte[] get(String key) {
    return store(key).get(key);
  }

  @Override
  public void put(String key, byte[] value) {
    store(key).put(key, value);
  }

  @Override
  public void delete(String key) {
    store(key).delete(key);
  }

  @Override
  public boolean deleteSome(String prefix, int most) {
    List<String> keys = new ArrayList<>();
    boolean areAll;
    try (KeyValueIterator<String, byte[]> entries = scan(prefix)) {
      while (entries.hasNext() && keys.size() < most) {
        keys.add(entries.next().key);
      }
      areAll = !entries.hasNext();
    }
    keys.forEach(this::delete);
    return areAll;
  }

  @Override
  public void scan(String prefix, BiConsumer<String, byte[]> visitor) {
    try (KeyValueIterator<String, byte[]> entries = scan(prefix)) {
      while (entries.hasNext()) {
        KeyValue<String, byte[]> entry = entries.next();
        visitor.accept(entry.key, entry.value);
      }
    }
  }

  private KeyValueIterator<String, byte[]> scan(String prefix) {
    return store(prefix).prefixScan(prefix, new StringSerializer());
  }
}
