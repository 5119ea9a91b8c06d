package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.KeyedState;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;

/** A job's memory in a logged store of Kafka Streams, whose changelog commits with the input's offsets. */
public final class StoreState implements KeyedState {

  private final KeyValueStore<String, byte[]> store;

  public StoreState(KeyValueStore<String, byte[]> store) {
    this.store = store;
  }

  @Override
  public byte[] get(String key) {
    return store.get(key);
  }

  @Override
  public void put(String key, byte[] value) {
    store.put(key, value);
  }

  @Override
  public void delete(String key) {
    store.delete(key);
  }

  @Override
  public void deleteAll(String prefix) {
    List<String> keys = new ArrayList<>();
    scan(prefix, (key, value) -> keys.add(key));
    keys.forEach(store::delete);
  }

  @Override
  public void scan(String prefix, BiConsumer<String, byte[]> visitor) {
    try (KeyValueIterator<String, byte[]> entries = store.prefixScan(prefix, new StringSerializer())) {
      while (entries.hasNext()) {
        KeyValue<String, byte[]> entry = entries.next();
        visitor.accept(entry.key, entry.value);
      }
    }
  }
}
