package io.lifeline.jobs.core.filter;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.ColumnarBatch.Columns;
import io.lifeline.codec.EventType;
import io.lifeline.jobs.core.KeyText;
import java.util.BitSet;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Selects events from batches by a condition. Used by one thread. */
public final class Filter {

  private static final Logger LOG = LoggerFactory.getLogger(Filter.class);

  /** Maximum number of types that a warning is logged for: emitters must not be able to fill the log. */
  private static final int MAX_TOLD = 100;

  private final Condition condition;
  private final boolean isCompiled;

  /** Weak keys, so that unused types are released: an emitter may send new types without limit. */
  private final Map<EventType, Term> terms = new WeakHashMap<>();

  private final BitSet chosen = new BitSet();
  private long[] all = {};
  private long undecided;
  private int told;

  public Filter(Condition condition) {
    this(condition, true);
  }

  private Filter(Condition condition, boolean isCompiled) {
    this.condition = condition;
    this.isCompiled = isCompiled;
  }

  /** Returns a filter that leaves every event to CEL's own runtime: slow; for comparison with the compiled filter. */
  public static Filter interpreting(Condition condition) {
    return new Filter(condition, false);
  }

  /** Returns the indexes of the events that meet the condition; valid until the next call. */
  public BitSet choose(BatchReader batch) {
    chosen.clear();
    undecided = 0;
    for (Columns group : batch.columns().groups()) {
      choose(new EventGroup(batch, group));
    }
    return chosen;
  }

  /** Returns the number of events of that batch for which the condition could not be evaluated; they are not chosen. */
  public long undecided() {
    return undecided;
  }

  private void choose(EventGroup group) {
    Term term = terms.computeIfAbsent(group.columns().type(), this::compile);
    int size = group.columns().size();
    if (term.always() != null) {
      undecided += term.always() == Judgement.NEITHER ? size : 0;
      if (term.always() != Judgement.YES) {
        return;
      }
    }
    MatchBits verdict = term.judge(group, all(size));
    int[] places = group.columns().eventIndex();
    int decided = 0;
    for (int word = 0; word < group.words(); word++) {
      long wanted = all[word];
      decided += Long.bitCount((verdict.yes[word] | verdict.no[word]) & wanted);
      for (long left = verdict.yes[word] & wanted; left != 0; left &= left - 1) {
        chosen.set(places[(word << 6) + Long.numberOfTrailingZeros(left)]);
      }
    }
    undecided += term.always() == null ? size - decided : 0;
  }

  /** Compiles a term that logs one warning per type, with only the kind of error: CEL's message may contain values. */
  private Term compile(EventType type) {
    if (!isCompiled) {
      return condition.interpretedOn(type);
    }
    AtomicBoolean isTold = new AtomicBoolean();
    String name = KeyText.encode(type.name());
    return condition.on(
        type,
        code -> {
          if (told < MAX_TOLD && !isTold.getAndSet(true)) {
            told++;
            LOG.warn("some events {} cannot be evaluated by \"{}\": {}", name, condition, code);
          }
        });
  }

  /** Returns a bitmap with that many bits set. */
  private long[] all(int size) {
    int words = (size + 63) >>> 6;
    if (all.length < words) {
      all = new long[words];
    }
    for (int word = 0; word < words; word++) {
      all[word] = ~0L;
    }
    if ((size & 63) != 0) {
      all[words - 1] = (1L << size) - 1;
    }
    return all;
  }
}
