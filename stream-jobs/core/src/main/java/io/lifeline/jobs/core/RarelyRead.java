package io.lifeline.jobs.core;

import java.util.List;

/**
 * Values of a job's state that grow with the stream and are rarely read: checksums of old batches, and routes that have
 * ended. A host keeps them out of memory.
 */
public final class RarelyRead {

  /** What their keys begin with. */
  public static final List<String> PREFIXES = List.of(Deduplicator.CHECKSUMS, RetiredRoutes.PREFIX);

  private RarelyRead() {}

  /** Returns whether a key, or a prefix of keys, is one of such values. */
  public static boolean isKey(String key) {
    return isChecksums(key) || key.startsWith(RetiredRoutes.PREFIX);
  }

  /** Returns whether a key's value is a chunk of {@link Checksums}. Two of them can be merged. */
  public static boolean isChecksums(String key) {
    return key.startsWith(Deduplicator.CHECKSUMS);
  }
}
