package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Pipeline;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.jobs.core.StateWriter;
import io.lifeline.jobs.core.plan.ByEmitter;
import io.lifeline.jobs.core.plan.Plan;
import io.lifeline.jobs.core.plan.TwoStagePlan;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;

/**
 * The first stage of the topology, one task per partition of the batch topic: validates and de-duplicates batches, runs
 * the jobs that work by emitter, and turns batches into the input of the second stage.
 *
 * <p>State is saved to the store after every batch, because a commit may follow any batch without notice.
 */
final class IntakeProcessor implements Processor<byte[], byte[], String, Outgoing>, Output {

  static final String STORE = "lifeline-intake";
  static final String CHECKSUMS = "lifeline-checksums";
  static final String ID_HEADER = "lifeline-id";
  static final String PARTITION_HEADER = "lifeline-partition";

  private static final Duration PUNCTUATION = Duration.ofSeconds(1);
  private static final byte[] NO_BYTES = new byte[0];

  private final TopologySettings settings;
  private final List<Plan> plans;
  private ProcessorContext<String, Outgoing> context;
  private byte[] partition;
  private Pipeline pipeline;
  private ReadPosition readPosition;
  private SharedMoments early;
  private Metrics.Counter untopical;

  IntakeProcessor(TopologySettings settings, List<Plan> plans) {
    this.settings = settings;
    this.plans = plans;
  }

  @Override
  public void init(ProcessorContext<String, Outgoing> processorContext) {
    context = processorContext;
    partition = new StateWriter().varint(context.taskId().partition()).toBytes();
    KeyedState state = new StoreState(context.getStateStore(STORE), context.getStateStore(CHECKSUMS));
    String task = settings.jobs() + "-" + context.taskId().partition();
    pipeline =
        new Pipeline(
            task,
            state,
            settings.retention().toMillis(),
            settings.places().task(context.taskId().partition(), state),
            plans.stream().map(plan -> job(plan, state)).toList(),
            settings.metrics());
    untopical =
        settings.metrics().counter(
            "lifeline_decode_untopical_total", "Events left out: there are too many topics.");
    readPosition =
        new ReadPosition(
            state, settings.logStart(), (partition, from, to) -> pipeline.expired(partition, from, to, true));
    requireTopic();
    context.schedule(PUNCTUATION, PunctuationType.WALL_CLOCK_TIME, this::punctuate);
    early = new SharedMoments(context, this::commitEarly);
  }

  @Override
  public void process(Record<byte[], byte[]> message) {
    RecordMetadata metadata = context.recordMetadata().orElseThrow();
    readPosition.reading(metadata.partition(), metadata.offset());
    byte[] batch = message.value() == null ? NO_BYTES : message.value();
    Position position = new Position(metadata.partition(), metadata.offset(), message.timestamp());
    Rejection refusal = settings.signatures().refusal(position, batch, SignatureHeader.of(message.headers()));
    if (refusal == null) {
      pipeline.accept(batch, position, this);
    } else {
      pipeline.refuse(refusal, this);
    }
    readPosition.save();
    pipeline.save();
    if (pipeline.isDue()) {
      early.ask(message.timestamp());
    }
  }

  /** The second stage reads nothing that is not committed. */
  private void commitEarly() {
    punctuate(System.currentTimeMillis());
    context.commit();
  }

  private void requireTopic() {
    String id = settings.batchesId().get();
    if (id != null) { // null: unknown for now, and checked again later
      readPosition.requireTopic(settings.batches(), id);
    }
  }

  /** Removes this task's metrics; another instance publishes them from now on. */
  @Override
  public void close() {
    if (pipeline != null) {
      pipeline.close();
    }
  }

  private void punctuate(long nowMs) {
    requireTopic();
    readPosition.lookIntoGaps();
    pipeline.punctuate(this);
    readPosition.save();
    pipeline.save();
  }

  private Job job(Plan plan, KeyedState state) {
    if (plan instanceof TwoStagePlan<?> stages) {
      return firstStage(stages, state);
    }
    return ((ByEmitter) plan).job().apply(state);
  }

  private <P> Job firstStage(TwoStagePlan<P> job, KeyedState state) {
    return job.first(
        state,
        (part, brokerTimeMs) -> {
          Record<String, Outgoing> message =
              new Record<>(job.key(part), Outgoing.part(job.parts(), job.toBytes(part)), brokerTimeMs);
          message.headers().add(PARTITION_HEADER, partition);
          context.forward(message);
        });
  }

  /**
   * Results get the current time as timestamp: a topic drops records older than its retention at once, and the event's
   * time is in the value.
   */
  @Override
  public void send(Destination to, String key, String id, byte[] value) {
    String topic = to.topic(settings.prefix());
    if (to.kind() == Destination.Kind.EVENTS || to.kind() == Destination.Kind.DERIVED) {
      topic = settings.topics().ensure(topic, to.kind());
      if (topic == null) {
        untopical.increment();
        return;
      }
    }
    Record<String, Outgoing> result = new Record<>(key, Outgoing.result(topic, value), context.currentSystemTimeMs());
    result.headers().add(ID_HEADER, id.getBytes(StandardCharsets.UTF_8));
    context.forward(result);
  }
}
