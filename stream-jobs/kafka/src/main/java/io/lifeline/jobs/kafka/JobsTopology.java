package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.plan.Plan;
import io.lifeline.jobs.core.plan.TwoStagePlan;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Branched;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.processor.StreamPartitioner;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * The jobs as a topology:
 *
 * <pre>
 * lifeline.batches -> intake -> results: lifeline.events.*, .ledger, .rejected
 *                            -> partials -> (by window's key) -> merge -> lifeline.summaries
 *                            -> samples -> (by group) -> monitor -> lifeline.alerts
 * </pre>
 *
 * All internal topics have explicit names, so that a change of the topology never orphans one.
 */
final class JobsTopology {

  /**
   * Number of tasks of each second stage. Few are enough: each batch sends the merging stage one small record per
   * window and summary, and each merging task tracks all emitters; the monitoring stage receives a few samples a
   * second per emitter.
   */
  static final int SECOND_HALF_TASKS = 4;

  private static final Serde<String> TEXT = Serdes.String();
  private static final Serde<byte[]> BYTES = Serdes.ByteArray();
  private static final Serde<Outgoing> RESULT =
      Serdes.serdeFrom((topic, result) -> result.value(), Outgoing::result);

  private JobsTopology() {}

  /** @param plans plans of the jobs that run, those by emitter first */
  static Topology build(TopologySettings settings, List<Plan> plans) {
    List<TwoStagePlan<?>> twoStage = new ArrayList<>();
    plans.forEach(plan -> {
      if (plan instanceof TwoStagePlan<?> job) {
        twoStage.add(job);
      }
    });
    StreamsBuilder builder = new StreamsBuilder();
    builder.addStateStore(store(IntakeProcessor.STORE));
    builder.addStateStore(storeOnDisk(IntakeProcessor.CHECKSUMS));
    var outgoing =
        builder.stream(
                settings.batches(),
                Consumed.with(BYTES, BYTES).withTimestampExtractor(new BatchTime()).withName("lifeline-batches"))
            .process(
                () -> new IntakeProcessor(settings, plans),
                Named.as("lifeline-intake"),
                IntakeProcessor.STORE,
                IntakeProcessor.CHECKSUMS)
            .split(Named.as("lifeline-"));
    for (TwoStagePlan<?> job : twoStage) {
      outgoing =
          outgoing.branch((key, message) -> job.parts().equals(message.parts()), Branched.as(job.parts()));
    }
    var branches = outgoing.defaultBranch(Branched.as("results"));
    publish(branches.get("lifeline-results"), "lifeline-intake-results");
    for (TwoStagePlan<?> job : twoStage) {
      String second = SecondStageProcessor.name(job);
      builder.addStateStore(store(second));
      KStream<String, Outgoing> results =
          branches
              .get("lifeline-" + job.parts())
              .mapValues(Outgoing::value, Named.as("lifeline-" + job.parts() + "-bytes"))
              .repartition(toSecondStage(job))
              .process(() -> new SecondStageProcessor<>(settings, job), Named.as(second), second);
      publish(results, second + "-results");
    }
    return builder.build();
  }

  private static void publish(KStream<String, Outgoing> results, String name) {
    results.to(
        (key, outgoing, context) -> outgoing.topic(),
        Produced.<String, Outgoing>as(name)
            .withKeySerde(TEXT)
            .withValueSerde(RESULT));
  }

  private static Repartitioned<String, byte[]> toSecondStage(TwoStagePlan<?> job) {
    StreamPartitioner<String, byte[]> partitioner =
        (topic, key, value, partitions) -> job.isForAll(key) ? Optional.of(all(partitions)) : Optional.empty();
    return Repartitioned.<String, byte[]>as("lifeline-" + job.parts())
        .withKeySerde(TEXT)
        .withValueSerde(BYTES)
        .withNumberOfPartitions(SECOND_HALF_TASKS)
        .withStreamPartitioner(partitioner);
  }

  private static Set<Integer> all(int partitions) {
    return IntStream.range(0, partitions).boxed().collect(Collectors.toSet());
  }

  /**
   * Returns a store that is in memory, because the jobs hold their state in memory anyway; logged, so that it commits
   * with the input's offsets; and cached, so that a value saved after every batch reaches the log once per commit.
   */
  private static StoreBuilder<KeyValueStore<String, byte[]>> store(String name) {
    return Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(name), TEXT, BYTES).withCachingEnabled();
  }

  /**
   * Returns a store on disk, for data that grows with the batches and is rarely read. Each value is written once, so a
   * cache would not help.
   */
  private static StoreBuilder<KeyValueStore<String, byte[]>> storeOnDisk(String name) {
    return Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore(name), TEXT, BYTES);
  }
}
