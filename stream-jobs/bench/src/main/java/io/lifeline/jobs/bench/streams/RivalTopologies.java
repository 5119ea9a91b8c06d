package io.lifeline.jobs.bench.streams;

import io.lifeline.jobs.bench.Backlog.Event;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import io.lifeline.jobs.core.summarise.Aggregate;
import io.lifeline.jobs.core.summarise.SummariseSettings;
import io.lifeline.jobs.core.summarise.WindowMerger;
import java.time.Duration;
import java.util.function.Supplier;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

/** Topologies for one message per event, summarised by a processor like ours or by the DSL. */
final class RivalTopologies {

  private static final Serde<String> TEXT = Serdes.String();
  private static final Serde<byte[]> BYTES = Serdes.ByteArray();

  private RivalTopologies() {}

  /** The store is the same as that of the jobs: in memory, logged and cached. */
  static Topology processor(
      String topic, String results, Supplier<Format> format, SummariseSettings settings, Metrics metrics) {
    StreamsBuilder builder = new StreamsBuilder();
    builder.addStateStore(
        Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(EventProcessor.STORE), TEXT, BYTES)
            .withCachingEnabled());
    builder.stream(topic, Consumed.with(BYTES, BYTES))
        .process(
            () -> new EventProcessor(format.get(), settings, metrics), Named.as("summarise"), EventProcessor.STORE)
        .to(results, Produced.with(TEXT, BYTES));
    return builder.build();
  }

  /** The usual DSL program, which reads and writes the window's state for every event. */
  static Topology dsl(
      String topic, String results, Supplier<Format> format, SummariseSettings settings, Metrics metrics) {
    StreamsBuilder builder = new StreamsBuilder();
    Metrics.Counter values = metrics.counter(WindowMerger.VALUES, "Values taken into windows.");
    Serde<Event> events = Serdes.serdeFrom((name, event) -> format.get().encode(event), new ReusedFormat(format));
    Serde<Pair> pairs = Serdes.serdeFrom((name, pair) -> pair.encode(), (name, bytes) -> Pair.decode(bytes));
    builder.stream(topic, Consumed.with(BYTES, events))
        .filter((key, event) -> event != null)
        .groupByKey(Grouped.with(BYTES, events))
        .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofNanos(settings.windowNs())))
        .aggregate(
            Pair::new,
            (key, event, pair) -> {
              pair.ints.add(event.myInt());
              pair.floats.add(event.myFloat());
              values.add(2);
              return pair;
            },
            Materialized.<byte[], Pair, WindowStore<Bytes, byte[]>>as("windows")
                .withKeySerde(BYTES)
                .withValueSerde(pairs))
        .toStream((window, pair) -> window.key())
        .to(results, Produced.with(BYTES, pairs));
    return builder.build();
  }

  /** One format per thread, since a format reuses its buffers. */
  private record ReusedFormat(ThreadLocal<Format> formats) implements Deserializer<Event> {

    ReusedFormat(Supplier<Format> format) {
      this(ThreadLocal.withInitial(format));
    }

    @Override
    public Event deserialize(String topic, byte[] message) {
      return formats.get().decodeSelected(message);
    }
  }

  /** The state of a window. */
  private static final class Pair {
    private Aggregate ints = new Aggregate();
    private Aggregate floats = new Aggregate();

    byte[] encode() {
      StateWriter out = new StateWriter();
      ints.encode(out);
      floats.encode(out);
      return out.toBytes();
    }

    static Pair decode(byte[] bytes) {
      StateReader in = new StateReader(bytes);
      Pair pair = new Pair();
      pair.ints = Aggregate.decode(in);
      pair.floats = Aggregate.decode(in);
      return pair;
    }
  }
}
