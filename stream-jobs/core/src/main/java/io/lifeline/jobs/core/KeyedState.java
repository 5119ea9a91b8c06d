package io.lifeline.jobs.core;

import java.util.function.BiConsumer;

/**
 * A job's durable memory: bytes by key. It moves forward atomically with the position in the input: after a crash a job
 * finds the state that belongs to the messages before the position where it resumes, never more and never less.
 *
 * <p>Kafka Streams puts into a logged store (so {@link #put} costs a changelog record, hence once per batch and key);
 * JetStream keeps a map and writes it whole at each checkpoint. Used by one thread.
 */
public interface KeyedState {

  /** The value, or null. The caller must not change the bytes. */
  byte[] get(String key);

  /** Keeps the value; the caller must not change the bytes afterwards. */
  void put(String key, byte[] value);

  void delete(String key);

  /** Deletes keys that start with the prefix, about that many at most; whether none is left. */
  boolean deleteSome(String prefix, int most);

  /** Visits the keys that start with the prefix, in order. The visitor must not change the state. */
  void scan(String prefix, BiConsumer<String, byte[]> visitor);
}
