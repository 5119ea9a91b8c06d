package io.lifeline.jobs.core;

import static io.lifeline.jobs.core.TestBatches.LOAD;
import static io.lifeline.jobs.core.TestBatches.READ;
import static io.lifeline.jobs.core.TestBatches.at;
import static io.lifeline.jobs.core.TestBatches.batch;
import static io.lifeline.jobs.core.TestBatches.tick;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.core.all.AllJobs;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.lifeline.jobs.core.plan.ByEmitter;
import io.lifeline.jobs.core.plan.Plan;
import io.lifeline.jobs.core.plan.TwoStagePlan;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * All jobs over one state, with a scripted input in two parts. The stored states were taken between the parts. What the
 * second part gives depends on everything that is remembered of the first.
 */
final class StateScenario {

  private static final EventType START = EventType.named("disk.read.start").field("id", FieldType.U64).build();
  private static final String BUCKET = "bucket";
  private static final int LONG_ROUTE = 200;

  private final Metrics metrics = new Metrics();
  private final Recorder output = new Recorder();
  private final AtomicLong nanoTime = new AtomicLong();
  private final Map<String, byte[]> messages = new TreeMap<>();
  private final List<TwoStagePlan<?>> stages = new ArrayList<>();
  private final MemoryState state;
  private final Pipeline pipeline;
  private double seconds;
  private long offset;

  StateScenario(MemoryState state) {
    this.state = state;
    JobConfig config = config();
    List<Job> jobs = new ArrayList<>();
    AllJobs.of(Optional::empty).forEach(factory -> {
      Plan plan = factory.plan(config, metrics);
      if (plan instanceof ByEmitter job) {
        jobs.add(job.job().apply(state));
      } else if (plan instanceof TwoStagePlan<?> twoStage) {
        stages.add(twoStage);
        jobs.add(twoStage.whole(state));
        jobs.add(keepingMessages(twoStage));
        twoStage.grouped(2).ifPresent(grouped -> jobs.add(grouped.first(0, state, BUCKET)));
      }
    });
    pipeline =
        new Pipeline(
            "task",
            state,
            config.get(Keys.RETENTION).toMillis(),
            Placement.ANYWHERE,
            jobs,
            metrics,
            nanoTime::get);
  }

  private static JobConfig config() {
    return JobConfig.load(null, Map.of(), Map.of(
        "broker.url", "nats://127.0.0.1:4222",
        "jobs", "decode,filter,pair,rate,ledger,summarise,bottleneck",
        "decode.types", "disk.*",
        "filter.large", "nbytes > 1000",
        "rate.of", "disk.read.end:nbytes",
        "summarise.fields", "*:nbytes,*:load",
        "bottleneck.components", "disk-read=disk.read",
        "ledger.interval", "1s"));
  }

  /** Runs the first stage as on a host with two, and keeps its first message. */
  private <P> Job keepingMessages(TwoStagePlan<P> plan) {
    return plan.first(
        new MemoryState(), (part, brokerTimeMs) -> messages.putIfAbsent(plan.parts(), plan.toBytes(part)));
  }

  /** Plays the part whose end the stored states are from. */
  StateScenario first() {
    for (int sequence = 1; sequence <= LONG_ROUTE; sequence++) {
      accept(events(5, sequence));
    }
    for (int sequence = 1; sequence <= 5; sequence++) {
      accept(events(1, sequence));
      if (sequence != 3) {
        accept(events(2, sequence));
      }
      pass(1);
    }
    accept(events(3, 1), events(3, 2), events(3, 3).finalBatch(true));
    accept(events(4, 1), events(4, 3).finalBatch(true));
    pass(1);
    output.messages().stream()
        .filter(sent -> sent.to() == Destination.PARTIALS)
        .forEach(sent -> messages.putIfAbsent("shares", sent.bytes()));
    output.take();
    pipeline.save();
    return this;
  }

  /** Plays the rest, up to the end of every window, and returns the results, each as text, in order. */
  List<String> second() {
    seconds = 10;
    accept(events(1, 6), events(1, 5), changed(1, 4));
    accept(events(2, 3), events(2, 6).finalBatch(true), changed(2, 1));
    accept(events(3, 2), changed(3, 3));
    accept(events(4, 2), events(4, 3).finalBatch(true), changed(4, 1));
    accept(events(5, 10), changed(5, 20), events(5, LONG_ROUTE + 1).finalBatch(true), events(5, LONG_ROUTE));
    accept(events(6, 1));
    pass(1);
    pass(100);
    pipeline.save();
    return output.take().stream()
        .sorted(Comparator.comparing((Recorder.Sent sent) -> sent.to().toString()).thenComparing(Recorder.Sent::id))
        .map(sent -> sent.to() + " " + sent.id() + " " + (sent.to().kind() == Destination.Kind.DERIVED
            || sent.to() == Destination.PARTIALS ? StateFile.hex(sent.bytes()) : sent.value()))
        .toList();
  }

  MemoryState state() {
    return state;
  }

  Metrics metrics() {
    return metrics;
  }

  /** Returns one message of each kind that a first stage sent to a second. */
  Map<String, byte[]> messages() {
    return messages;
  }

  /** Reads a message of that kind, of any release, as the second stage does. */
  void read(String kind, byte[] message) {
    for (TwoStagePlan<?> plan : stages) {
      if (plan.parts().equals(kind)) {
        plan.fromBytes(message);
        return;
      }
    }
    stages.stream().flatMap(plan -> plan.grouped(2).stream()).findFirst().orElseThrow()
        .second(new MemoryState(), BUCKET, nanoTime::get).accept(message);
  }

  private void accept(BatchWriter... batches) {
    for (BatchWriter batch : batches) {
      pipeline.accept(batch.toByteArray(), at(++offset, seconds), output);
    }
  }

  private void pass(int more) {
    seconds += more;
    nanoTime.addAndGet(more * 1_000_000_000L);
    pipeline.punctuate(output);
  }

  /** A batch starts an operation and ends the previous batch's. */
  private BatchWriter events(int emitter, int sequence) {
    return batch(emitter, sequence)
        .type(3, START)
        .event(START, tick(sequence * 0.1), (long) sequence)
        .event(READ, tick(sequence * 0.1 + 0.05), sequence - 1L, 300L * sequence + emitter)
        .event(LOAD, tick(sequence * 0.1 + 0.06), emitter + sequence / 10.0)
        .counter(Counter.EMITTED, 3L * sequence);
  }

  /** Another batch with the same sequence. */
  private BatchWriter changed(int emitter, int sequence) {
    return events(emitter, sequence).event(LOAD, tick(sequence), 99.0);
  }
}
