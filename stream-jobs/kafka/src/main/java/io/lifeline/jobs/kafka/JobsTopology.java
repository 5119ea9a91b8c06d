package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.bottleneck.BottleneckSettings;
import io.lifeline.jobs.core.bottleneck.Sampler;
import io.lifeline.jobs.core.summarise.SummariseSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
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
 * Every internal topic is named here, so that a change of the topology never orphans one.
 */
final class JobsTopology {

  /**
   * Tasks that merge windows. A batch gives them one small record per window and summary, and each keeps the progress
   * of all emitters, so few are enough.
   */
  static final int MERGE_TASKS = 4;

  /** Tasks that look for bottlenecks; each emitter gives them a few samples a second. */
  private static final int MONITOR_TASKS = 4;

  private static final Serde<String> TEXT = Serdes.String();
  private static final Serde<byte[]> BYTES = Serdes.ByteArray();
  private static final Serde<Outgoing> RESULT =
      Serdes.serdeFrom((topic, result) -> result.value(), Outgoing::result);

  private JobsTopology() {}

  /**
   * @param byEmitter makes the jobs that work by emitter
   * @param summarise null if nothing is summarised
   * @param bottleneck null if no bottlenecks are looked for
   */
  static Topology build(
      TopologySettings settings,
      Function<KeyedState, List<Job>> byEmitter,
      SummariseSettings summarise,
      BottleneckSettings bottleneck) {
    StreamsBuilder builder = new StreamsBuilder();
    builder.addStateStore(store(IntakeProcessor.STORE));
    builder.addStateStore(storeOnDisk(IntakeProcessor.CHECKSUMS));
    IntakeProcessor.Jobs jobs =
        (state, secondHalf) -> {
          List<Job> all = new ArrayList<>(byEmitter.apply(state));
          if (summarise != null) {
            all.add(new PartialJob(summarise, settings.metrics(), secondHalf::merge));
          }
          if (bottleneck != null) {
            all.add(new Sampler(bottleneck, state, settings.metrics(), secondHalf::monitor));
          }
          return all;
        };
    var branches =
        builder.stream(
                settings.batches(),
                Consumed.with(BYTES, BYTES).withTimestampExtractor(new BatchTime()).withName("lifeline-batches"))
            .process(
                () -> new IntakeProcessor(settings, jobs),
                Named.as("lifeline-intake"),
                IntakeProcessor.STORE,
                IntakeProcessor.CHECKSUMS)
            .split(Named.as("lifeline-"))
            .branch((key, outgoing) -> outgoing.kind() == Outgoing.Kind.PARTIAL, Branched.as("partials"))
            .branch((key, outgoing) -> outgoing.kind() == Outgoing.Kind.SAMPLE, Branched.as("samples"))
            .defaultBranch(Branched.as("results"));
    publish(branches.get("lifeline-results"), "lifeline-intake-results");
    if (summarise != null) {
      builder.addStateStore(store(MergeProcessor.STORE));
      KStream<String, Outgoing> summaries =
          branches
              .get("lifeline-partials")
              .mapValues(Outgoing::value, Named.as("lifeline-partial-bytes"))
              .repartition(byKey())
              .process(
                  () -> new MergeProcessor(settings, summarise), Named.as("lifeline-merge"), MergeProcessor.STORE);
      publish(summaries, "lifeline-merge-results");
    }
    if (bottleneck != null) {
      builder.addStateStore(store(MonitorProcessor.STORE));
      KStream<String, Outgoing> alerts =
          branches
              .get("lifeline-samples")
              .mapValues(Outgoing::value, Named.as("lifeline-sample-bytes"))
              .repartition(byGroup())
              .process(
                  () -> new MonitorProcessor(settings, bottleneck),
                  Named.as("lifeline-monitor"),
                  MonitorProcessor.STORE);
      publish(alerts, "lifeline-monitor-results");
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

  /** Progress goes to every merging task, the rest to the one that owns its key. */
  private static Repartitioned<String, byte[]> byKey() {
    StreamPartitioner<String, byte[]> partitioner =
        (topic, key, value, partitions) ->
            key.equals(PartialJob.PROGRESS_ONLY) ? Optional.of(all(partitions)) : Optional.empty();
    return Repartitioned.<String, byte[]>as("lifeline-partials")
        .withKeySerde(TEXT)
        .withValueSerde(BYTES)
        .withNumberOfPartitions(MERGE_TASKS)
        .withStreamPartitioner(partitioner);
  }

  private static Repartitioned<String, byte[]> byGroup() {
    return Repartitioned.<String, byte[]>as("lifeline-samples")
        .withKeySerde(TEXT)
        .withValueSerde(BYTES)
        .withNumberOfPartitions(MONITOR_TASKS);
  }

  private static Set<Integer> all(int partitions) {
    return IntStream.range(0, partitions).boxed().collect(Collectors.toSet());
  }

  /**
   * In memory, since the jobs hold their state in memory anyway; logged, so that it moves with the input's offsets; and
   * cached, so that a value put after every batch reaches the log once per commit.
   */
  private static StoreBuilder<KeyValueStore<String, byte[]>> store(String name) {
    return Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(name), TEXT, BYTES).withCachingEnabled();
  }

  /** What grows with the batches and is hardly ever read; as each value is put once, a cache would be no use. */
  private static StoreBuilder<KeyValueStore<String, byte[]>> storeOnDisk(String name) {
    return Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore(name), TEXT, BYTES);
  }
}
