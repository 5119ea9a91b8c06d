package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.StreamClock;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;

/**
 * The second half of a job, in which what belongs together meets, from all emitters: it keeps its state and the
 * stream's time in one store, and goes by that time.
 */
abstract class SecondHalfProcessor implements Processor<String, byte[], String, Outgoing>, Output {

  private static final Duration PUNCTUATION = Duration.ofSeconds(1);
  private static final long NS_PER_MS = 1_000_000;

  private final TopologySettings settings;
  private final String store;
  private ProcessorContext<String, Outgoing> context;
  private StreamClock clock;

  SecondHalfProcessor(TopologySettings settings, String store) {
    this.settings = settings;
    this.store = store;
  }

  /** Takes up its work where the state says. Called once, before everything else. */
  abstract void open(KeyedState state);

  /** Takes in what a first half found; says to the clock when the broker had that. */
  abstract void accept(Record<String, byte[]> message, StreamClock time);

  /** Called every second once there is a time, in milliseconds since the Unix epoch. */
  abstract void punctuate(long nowMs);

  abstract void saveState();

  @Override
  public final void init(ProcessorContext<String, Outgoing> processorContext) {
    context = processorContext;
    KeyedState state = new StoreState(context.getStateStore(store));
    open(state);
    clock = new StreamClock(state, () -> context.currentSystemTimeMs() * NS_PER_MS);
    context.schedule(PUNCTUATION, PunctuationType.WALL_CLOCK_TIME, this::tick);
  }

  @Override
  public final void process(Record<String, byte[]> message) {
    accept(message, clock);
    save();
  }

  private void tick(long systemTimeMs) {
    if (clock.isSet()) {
      punctuate(clock.nowMs());
      save();
    }
  }

  private void save() {
    clock.save();
    saveState();
  }

  @Override
  public final void send(Destination to, String key, String id, byte[] value) {
    Outgoing outgoing = Outgoing.result(to.topic(settings.prefix()), value);
    Record<String, Outgoing> result = new Record<>(key, outgoing, context.currentSystemTimeMs());
    result.headers().add(IntakeProcessor.ID_HEADER, id.getBytes(StandardCharsets.UTF_8));
    context.forward(result);
  }
}
