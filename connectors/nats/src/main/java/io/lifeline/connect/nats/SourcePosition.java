package io.lifeline.connect.nats;

import java.util.AbstractMap;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.connect.errors.ConnectException;

/**
 * The offset of a subject: the stream sequence of the last message read, and when the stream stored it, which tells it
 * from another message at the same sequence. The partition is the stream with the subject's
 * filter, since filters are read independently.
 */
final class SourcePosition {

  static final String STREAM = "stream";
  static final String FILTER = "filter";
  static final String SEQUENCE = "sequence";
  static final String TIME = "time_ns";

  private SourcePosition() {}

  /**
   * The partition of a filter. Connect finds an offset by the bytes of its partition as JSON, and a partition that a
   * user gives passes through a hash map: so it has to be one here, or the order of the two names might differ.
   */
  static Map<String, String> partition(String stream, String filter) {
    return new Partition(stream, filter);
  }

  /** Caches its hash, since Connect looks it up for every record. */
  private static final class Partition extends AbstractMap<String, String> {
    private final Map<String, String> names = new HashMap<>();
    private final int hash;

    Partition(String stream, String filter) {
      names.put(STREAM, stream);
      names.put(FILTER, filter);
      hash = names.hashCode();
    }

    @Override
    public Set<Entry<String, String>> entrySet() {
      return Collections.unmodifiableMap(names).entrySet();
    }

    @Override
    public boolean equals(Object other) {
      return super.equals(other);
    }

    @Override
    public int hashCode() {
      return hash;
    }
  }

  static Map<String, Long> offset(long sequence, long timeNs) {
    return Map.of(SEQUENCE, sequence, TIME, timeNs);
  }

  /** Returns the time of an offset that {@link #sequence} accepts; 0 if it has none, as one that a user gives. */
  static long timeNs(Map<String, ?> offset) {
    return offset.get(TIME) instanceof Number time ? time.longValue() : 0;
  }

  /**
   * The sequence that an offset holds. Connect keeps offsets as JSON, so small ones come back as another kind of
   * number.
   *
   * @throws ConnectException if the offset is not of this connector
   */
  static long sequence(Map<String, ?> offset) {
    Object sequence = offset.get(SEQUENCE);
    boolean isOurs = offset.size() == 1 || offset.size() == 2 && isNumber(offset.get(TIME));
    if (isOurs && isNumber(sequence)) {
      long number = ((Number) sequence).longValue();
      if (number >= 0) {
        return number;
      }
    }
    throw new ConnectException(
        "an offset of this connector is {\"sequence\": N}, with the sequence of the last message that was read, 0 for"
            + " none; not " + offset);
  }

  private static boolean isNumber(Object value) {
    return value instanceof Long || value instanceof Integer;
  }

  /**
   * Checks a partition that a user gives.
   *
   * @throws ConnectException if the partition is not of this connector
   */
  static void check(Map<String, ?> partition) {
    boolean legal =
        partition.size() == 2
            && partition.get(STREAM) instanceof String
            && partition.get(FILTER) instanceof String filter
            && Subjects.isFilter(filter);
    if (!legal) {
      throw new ConnectException(
          "a partition of this connector is {\"stream\": NAME, \"filter\": SUBJECT}, as in nats.stream and"
              + " nats.subjects; not " + partition);
    }
  }
}
