package io.lifeline.jobs.kafka;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Placement;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Utils;

/**
 * Which partition of the batch topic an emitter's batches belong into: the one that its key selects. A topic may have
 * had fewer partitions before; how many is in no metadata, so of what the topic holds when a task first reads it, any
 * smaller number is accepted.
 *
 * @param partitions number of partitions of the batch topic
 * @param earlier numbers of partitions that it had before
 * @param ends where each partition ended when this instance started
 */
record BatchPlaces(int partitions, List<Integer> earlier, Map<Integer, Long> ends) {

  private static final String KEY = "kafka/history";

  /** Returns where Kafka's default partitioner puts messages with the emitter's key: murmur2, modulo. */
  static int partition(Incarnation emitter, int partitions) {
    int hash = Utils.murmur2(emitter.toString().getBytes(StandardCharsets.US_ASCII));
    return Utils.toPositive(hash) % partitions;
  }

  /** Returns the places after the topic has got more partitions; batches may be where they belonged until then. */
  BatchPlaces raisedTo(int number) {
    return new BatchPlaces(number, Stream.concat(earlier.stream(), Stream.of(partitions)).toList(), ends);
  }

  /** @param state of the task, where the end of the partition is kept */
  Placement task(int partition, KeyedState state) {
    byte[] saved = state.get(KEY);
    long historyEnd = saved == null ? ends.getOrDefault(partition, 0L) : new StateReader(saved).version(1).varint();
    if (saved == null) {
      state.put(KEY, new StateWriter().version(1).varint(historyEnd).toBytes());
    }
    return (emitter, position) -> elsewhere(emitter, position, historyEnd);
  }

  /** As {@link Placement#elsewhere}; of what the topic held when this instance started, any smaller number counts. */
  String elsewhere(Incarnation emitter, Position position) {
    return elsewhere(emitter, position, ends.getOrDefault(position.partition(), 0L));
  }

  private String elsewhere(Incarnation emitter, Position position, long historyEnd) {
    int wanted = partition(emitter, partitions);
    IntStream others =
        position.offset() < historyEnd ? IntStream.range(1, partitions) : earlier.stream().mapToInt(Integer::intValue);
    if (wanted == position.partition()
        || others.anyMatch(number -> partition(emitter, number) == position.partition())) {
      return null;
    }
    return "partition " + wanted + " of " + partitions
        + " (if the topic had fewer when it was sent, set batches.partitions.earlier to that number)";
  }
}
