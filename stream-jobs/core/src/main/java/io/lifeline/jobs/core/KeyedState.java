package io.lifeline.jobs.core;

import java.util.List;
import java.util.function.BiConsumer;

/**
 * A job's durable key-value state. It advances atomically with the input position: after a crash, a job finds exactly
 * the state that belongs to the messages before the position where it resumes.
 *
 * <p>Kafka Streams uses a logged store, where each {@link #put} costs a changelog record: call it at most once per
 * batch and key. JetStream keeps a map and writes its changes at each checkpoint. Used by one thread.
 */
public interface KeyedState {

  /** Returns the value, or null. The caller must not change the bytes. */
  byte[] get(String key);

  /** Returns the value of the first of the keys {@code prefix + variant + suffix} that has one; null if none has. */
  default byte[] firstOf(String prefix, List<String> variants, String suffix) {
    for (String variant : variants) {
      byte[] value = get(prefix + variant + suffix);
      if (value != null) {
        return value;
      }
    }
    return null;
  }

  /** Stores the value; the caller must not change the bytes afterwards. */
  void put(String key, byte[] value);

  void delete(String key);

  /** Deletes about {@code most} of the keys that start with the prefix; returns true if none is left. */
  boolean deleteSome(String prefix, int most);

  /** Visits the keys that start with the prefix, in order. The visitor must not change the state. */
  void scan(String prefix, BiConsumer<String, byte[]> visitor);
}
