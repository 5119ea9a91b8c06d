package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.SourceClocks;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.plan.TwoStagePlan;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;

/**
 * Runs the second stage of a job, which receives parts from all emitters. It keeps its state and the stream time in one
 * store, and works by stream time.
 */
final class SecondStageProcessor<P> implements Processor<String, byte[], String, Outgoing>, Output {

  private static final Duration PUNCTUATION = Duration.ofSeconds(1);

  private final TopologySettings settings;
  private final TwoStagePlan<P> job;
  private ProcessorContext<String, Outgoing> context;
  private TwoStagePlan.SecondStage<P> stage;
  private SourceClocks clocks;
  private SharedMoments early;

  SecondStageProcessor(TopologySettings settings, TwoStagePlan<P> job) {
    this.settings = settings;
    this.job = job;
  }

  static String name(TwoStagePlan<?> job) {
    return "lifeline-" + job.second();
  }

  @Override
  public void init(ProcessorContext<String, Outgoing> processorContext) {
    context = processorContext;
    KeyedState state = new StoreState(context.getStateStore(name(job)));
    stage = job.second(state);
    clocks = new SourceClocks(state, settings.nanoTime(), settings.places().partitions(), job.idleNs());
    context.schedule(PUNCTUATION, PunctuationType.WALL_CLOCK_TIME, this::tick);
    early = new SharedMoments(context, this::publishWhatIsDue);
  }

  @Override
  public void process(Record<String, byte[]> message) {
    clocks.observe(partition(message), message.timestamp());
    stage.accept(job.fromBytes(message.value()), message.timestamp(), this);
    save();
    early.ask(message.timestamp());
  }

  /** By then the parts of all batches that were committed together have been read. */
  private void publishWhatIsDue() {
    if (stage.isDue(clocks.nowMs())) {
      tick(context.currentSystemTimeMs());
      context.commit();
    }
  }

  /** Returns the partition that the batch was read from. */
  private static int partition(Record<String, byte[]> message) {
    byte[] header = message.headers().lastHeader(IntakeProcessor.PARTITION_HEADER).value();
    return (int) new StateReader(header).varint();
  }

  private void tick(long systemTimeMs) {
    if (clocks.isSet()) {
      stage.punctuate(clocks.nowMs(), clocks.isComplete(), this);
      save();
    }
  }

  private void save() {
    clocks.save();
    stage.save();
  }

  @Override
  public void send(Destination to, String key, String id, byte[] value) {
    Outgoing outgoing = Outgoing.result(to.topic(settings.prefix()), value);
    Record<String, Outgoing> result = new Record<>(key, outgoing, context.currentSystemTimeMs());
    result.headers().add(IntakeProcessor.ID_HEADER, id.getBytes(StandardCharsets.UTF_8));
    context.forward(result);
  }
}
