package io.lifeline.jobs.bench.streams;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.bench.Backlog;
import io.lifeline.jobs.bench.Backlog.Event;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.summarise.Aggregate;
import io.lifeline.jobs.core.summarise.Partial;
import io.lifeline.jobs.core.summarise.Progress;
import io.lifeline.jobs.core.summarise.SummariseSettings;
import io.lifeline.jobs.core.summarise.WindowMerger;
import io.lifeline.jobs.kafka.StoreState;
import java.time.Duration;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;

/**
 * The processor for one message per event, with the same filter, the same aggregates by column and the same windows in
 * the same kind of store as the jobs. It writes to the store only once per {@link Backlog#EVENTS_PER_BATCH} events. To
 * be exact after a crash, it would have to write for each message; this favours the alternatives.
 */
final class EventProcessor implements Processor<byte[], byte[], String, byte[]>, Output {

  static final String STORE = "windows";

  private static final Duration PUNCTUATION = Duration.ofSeconds(1);

  private final Format format;
  private final SummariseSettings settings;
  private final Metrics metrics;
  private final double[] ints = new double[Backlog.EVENTS_PER_BATCH];
  private final double[] floats = new double[Backlog.EVENTS_PER_BATCH];
  private ProcessorContext<String, byte[]> context;
  private WindowMerger merger;
  private RouteKey emitter;
  private int taken;
  private int seen;
  private long windowStartNs;
  private long newestNs;

  EventProcessor(Format format, SummariseSettings settings, Metrics metrics) {
    this.format = format;
    this.settings = settings;
    this.metrics = metrics;
  }

  @Override
  public void init(ProcessorContext<String, byte[]> processorContext) {
    context = processorContext;
    emitter = new RouteKey(new Incarnation(0, context.taskId().partition()), 0);
    merger = new WindowMerger(settings, new StoreState(context.getStateStore(STORE)), metrics);
    context.schedule(PUNCTUATION, PunctuationType.WALL_CLOCK_TIME, this::punctuate);
  }

  @Override
  public void process(Record<byte[], byte[]> message) {
    Event event = format.decodeSelected(message.value());
    if (event != null) {
      long start = Math.floorDiv(event.timeNs(), settings.windowNs()) * settings.windowNs();
      if (start != windowStartNs) {
        mergeColumns();
        windowStartNs = start;
      }
      ints[taken] = event.myInt();
      floats[taken++] = event.myFloat();
      newestNs = Math.max(newestNs, event.timeNs());
    }
    if (++seen == Backlog.EVENTS_PER_BATCH) {
      save();
    }
  }

  private void mergeColumns() {
    if (taken > 0) {
      Progress progress = new Progress(emitter, newestNs, newestNs / 1_000_000, false);
      merger.merge(new Partial(windowStartNs, "field=my_int,unit=,type=table.1", column(ints), progress));
      merger.merge(new Partial(windowStartNs, "field=my_float,unit=,type=table.1", column(floats), progress));
      merger.observe(progress);
      taken = 0;
    }
  }

  private Aggregate column(double[] values) {
    Aggregate aggregate = new Aggregate();
    aggregate.add(values, 0, taken);
    return aggregate;
  }

  private void save() {
    mergeColumns();
    merger.save();
    seen = 0;
  }

  private void punctuate(long nowMs) {
    mergeColumns();
    merger.punctuate(newestNs / 1_000_000, true, this);
    save();
  }

  @Override
  public void send(Destination to, String key, String id, byte[] value) {
    context.forward(new Record<>(key, value, context.currentSystemTimeMs()));
  }
}
