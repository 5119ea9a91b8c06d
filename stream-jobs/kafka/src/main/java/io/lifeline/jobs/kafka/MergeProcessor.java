package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.StreamClock;
import io.lifeline.jobs.core.summarise.Partial;
import io.lifeline.jobs.core.summarise.SummariseSettings;
import io.lifeline.jobs.core.summarise.WindowMerger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;

/** The second half of summarise: shares with equal window and key, from all emitters, become one summary. */
final class MergeProcessor implements Processor<String, byte[], String, Outgoing>, Output {

  static final String STORE = "lifeline-merge";

  private static final Duration PUNCTUATION = Duration.ofSeconds(1);
  private static final long NS_PER_MS = 1_000_000;

  private final TopologySettings settings;
  private final SummariseSettings summarise;
  private ProcessorContext<String, Outgoing> context;
  private WindowMerger merger;
  private StreamClock clock;

  MergeProcessor(TopologySettings settings, SummariseSettings summarise) {
    this.settings = settings;
    this.summarise = summarise;
  }

  @Override
  public void init(ProcessorContext<String, Outgoing> processorContext) {
    context = processorContext;
    KeyedState state = new StoreState(context.getStateStore(STORE));
    merger = new WindowMerger(summarise, state, settings.metrics());
    clock = new StreamClock(state, () -> context.currentSystemTimeMs() * NS_PER_MS);
    context.schedule(PUNCTUATION, PunctuationType.WALL_CLOCK_TIME, this::punctuate);
  }

  @Override
  public void process(Record<String, byte[]> message) {
    Partial partial = Partial.fromBytes(message.value());
    clock.observe(partial.progress().brokerTimeMs());
    if (!partial.key().equals(PartialJob.PROGRESS_ONLY)) {
      merger.merge(partial);
    }
    merger.observe(partial.progress());
    save();
  }

  private void punctuate(long systemTimeMs) {
    if (clock.isSet()) {
      merger.punctuate(clock.nowMs(), this);
      save();
    }
  }

  private void save() {
    clock.save();
    merger.save();
  }

  @Override
  public void send(Destination to, String key, String id, byte[] value) {
    Outgoing outgoing = Outgoing.result(to.topic(settings.prefix()), value);
    Record<String, Outgoing> result = new Record<>(key, outgoing, context.currentSystemTimeMs());
    result.headers().add(IntakeProcessor.ID_HEADER, id.getBytes(StandardCharsets.UTF_8));
    context.forward(result);
  }
}
