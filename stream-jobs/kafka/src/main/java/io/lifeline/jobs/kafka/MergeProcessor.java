package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.SourceClocks;
import io.lifeline.jobs.core.summarise.Partial;
import io.lifeline.jobs.core.summarise.SummariseSettings;
import io.lifeline.jobs.core.summarise.WindowMerger;
import java.util.function.Function;
import org.apache.kafka.streams.processor.api.Record;

/** Summarise: shares with equal window and key become one summary. */
final class MergeProcessor extends SecondHalfProcessor {

  static final String STORE = "lifeline-merge";

  private final Function<KeyedState, WindowMerger> opening;
  private WindowMerger merger;

  MergeProcessor(TopologySettings settings, SummariseSettings summarise) {
    super(settings, STORE, summarise.idleNs());
    this.opening = state -> new WindowMerger(summarise, state, settings.metrics());
  }

  @Override
  void open(KeyedState state) {
    merger = opening.apply(state);
  }

  @Override
  void accept(Record<String, byte[]> message) {
    Partial partial = Partial.fromBytes(message.value());
    if (!partial.key().equals(PartialJob.PROGRESS_ONLY)) {
      merger.merge(partial);
    }
    merger.observe(partial.progress());
  }

  @Override
  void punctuate(SourceClocks time) {
    merger.punctuate(time.nowMs(), time.isComplete(), this);
  }

  @Override
  void saveState() {
    merger.save();
  }
}
