package io.lifeline.jobs.kafka;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Placement;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;

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

  static int partition(Incarnation emitter, int partitions) {
    return BuiltInPartitioner.partitionForKey(emitter.toString().getBytes(StandardCharsets.US_ASCII), partitions);
  }

  /** @param state of the task, where the end of the partition is kept */
  Placement task(int partition, KeyedState state) {
    byte[] saved = state.get(KEY);
    long historyEnd = saved == null ? ends.getOrDefault(partition, 0L) : new StateReader(saved).version(1).varint();
    if (saved == null) {
      state.put(KEY, new StateWriter().version(1).varint(historyEnd).toBytes());
    }
    return (emitter, position) -> {
      int wanted = partition(emitter, partitions);
      if (wanted == partition || earlier.stream().anyMatch(number -> partition(emitter, number) == partition)
          || position.offset() < historyEnd
              && IntStream.range(1, partitions).anyMatch(number -> partition(emitter, number) == partition)) {
        return null;
      }
      return "partition " + wanted + " of " + partitions
          + " (if the topic had fewer when it was sent, set batches.partitions.earlier to that number)";
    };
  }
}
