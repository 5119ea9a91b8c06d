package io.lifeline.jobs.archive;

import io.lifeline.jobs.core.KeyedState;
import java.util.function.BiConsumer;

/** A state that keeps nothing: the archive's memory of what it has seen is its manifests. */
final class ForgetfulState implements KeyedState {

  @Override
  public byte[] get(String key) {
    return null;
  }

  @Override
  public void put(String key, byte[] value) {
    // The manifests hold it.
  }

  @Override
  public void delete(String key) {
    // Nothing is kept.
  }

  @Override
  public void scan(String prefix, BiConsumer<String, byte[]> visitor) {
    // Nothing is kept.
  }
}
