package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.SourceClocks;
import io.lifeline.jobs.core.StateReader;
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

  private final TopologySettings settings;
  private final String store;
  private final long patienceNs;
  private ProcessorContext<String, Outgoing> context;
  private SourceClocks clocks;

  /** @param patienceNs how long a partition that is silent is waited for */
  SecondHalfProcessor(TopologySettings settings, String store, long patienceNs) {
    this.settings = settings;
    this.store = store;
    this.patienceNs = patienceNs;
  }

  /** Takes up its work where the state says. Called once, before everything else. */
  abstract void open(KeyedState state);

  /** Takes in what a first half found, in a batch that the broker took at the record's time. */
  abstract void accept(Record<String, byte[]> message);

  /** Called every second once there is a time. */
  abstract void punctuate(SourceClocks time);

  abstract void saveState();

  @Override
  public final void init(ProcessorContext<String, Outgoing> processorContext) {
    context = processorContext;
    KeyedState state = new StoreState(context.getStateStore(store));
    open(state);
    clocks = new SourceClocks(state, settings.nanoTime(), settings.partitions(), patienceNs);
    context.schedule(PUNCTUATION, PunctuationType.WALL_CLOCK_TIME, this::tick);
  }

  @Override
  public final void process(Record<String, byte[]> message) {
    clocks.observe(partition(message), message.timestamp());
    accept(message);
    save();
  }

  /** The partition that the batch was read from. */
  private static int partition(Record<String, byte[]> message) {
    byte[] header = message.headers().lastHeader(IntakeProcessor.PARTITION_HEADER).value();
    return (int) new StateReader(header).varint();
  }

  private void tick(long systemTimeMs) {
    if (clocks.isSet()) {
      punctuate(clocks);
      save();
    }
  }

  private void save() {
    clocks.save();
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
