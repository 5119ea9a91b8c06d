package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.SourceClocks;
import io.lifeline.jobs.core.bottleneck.BottleneckMonitor;
import io.lifeline.jobs.core.bottleneck.BottleneckSettings;
import io.lifeline.jobs.core.bottleneck.Sample;
import java.util.function.Function;
import org.apache.kafka.streams.processor.api.Record;

/** Bottleneck: the samples of a group become alerts. */
final class MonitorProcessor extends SecondHalfProcessor {

  static final String STORE = "lifeline-monitor";

  private final Function<KeyedState, BottleneckMonitor> opening;
  private BottleneckMonitor monitor;

  MonitorProcessor(TopologySettings settings, BottleneckSettings bottleneck) {
    super(settings, STORE, bottleneck.idleNs());
    this.opening = state -> new BottleneckMonitor(bottleneck, state, settings.metrics());
  }

  @Override
  void open(KeyedState state) {
    monitor = opening.apply(state);
  }

  @Override
  void accept(Record<String, byte[]> message) {
    monitor.accept(Sample.fromBytes(message.value()), message.timestamp(), this);
  }

  @Override
  void punctuate(SourceClocks time) {
    monitor.punctuate(time.nowMs(), this);
  }

  @Override
  void saveState() {
    monitor.save();
  }
}
