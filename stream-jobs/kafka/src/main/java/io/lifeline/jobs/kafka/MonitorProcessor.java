package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.StreamClock;
import io.lifeline.jobs.core.bottleneck.BottleneckMonitor;
import io.lifeline.jobs.core.bottleneck.BottleneckSettings;
import io.lifeline.jobs.core.bottleneck.Sample;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;

/** The second half of bottleneck: the samples of a group, from all its emitters, become alerts. */
final class MonitorProcessor implements Processor<String, byte[], String, Outgoing>, Output {

  static final String STORE = "lifeline-monitor";

  private static final Duration PUNCTUATION = Duration.ofSeconds(1);
  private static final long NS_PER_MS = 1_000_000;

  private final TopologySettings settings;
  private final BottleneckSettings bottleneck;
  private ProcessorContext<String, Outgoing> context;
  private BottleneckMonitor monitor;
  private StreamClock clock;

  MonitorProcessor(TopologySettings settings, BottleneckSettings bottleneck) {
    this.settings = settings;
    this.bottleneck = bottleneck;
  }

  @Override
  public void init(ProcessorContext<String, Outgoing> processorContext) {
    context = processorContext;
    KeyedState state = new StoreState(context.getStateStore(STORE));
    monitor = new BottleneckMonitor(bottleneck, state, settings.metrics());
    clock = new StreamClock(state, () -> context.currentSystemTimeMs() * NS_PER_MS);
    context.schedule(PUNCTUATION, PunctuationType.WALL_CLOCK_TIME, this::punctuate);
  }

  @Override
  public void process(Record<String, byte[]> message) {
    clock.observe(message.timestamp());
    monitor.accept(Sample.fromBytes(message.value()), message.timestamp(), this);
    save();
  }

  private void punctuate(long systemTimeMs) {
    if (clock.isSet()) {
      monitor.punctuate(clock.nowMs(), this);
      save();
    }
  }

  private void save() {
    clock.save();
    monitor.save();
  }

  @Override
  public void send(Destination to, String key, String id, byte[] value) {
    Outgoing outgoing = Outgoing.result(to.topic(settings.prefix()), value);
    Record<String, Outgoing> result = new Record<>(key, outgoing, context.currentSystemTimeMs());
    result.headers().add(IntakeProcessor.ID_HEADER, id.getBytes(StandardCharsets.UTF_8));
    context.forward(result);
  }
}
