package io.lifeline.jobs.cli.tail;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.EventType;
import io.lifeline.jobs.core.Glob;
import io.lifeline.jobs.core.filter.Condition;
import io.lifeline.jobs.core.filter.Filter;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

/** Selects events of batches. */
final class Selection {
  private final List<Glob> types;
  private final Glob program;
  private final Glob host;
  private final Filter where;
  /** Weak keys, so that unused types are released: an emitter may send new types without limit. */
  private final Map<EventType, Boolean> typeMatches = new WeakHashMap<>();
  private BitSet chosen;
  private long undecided;

  /**
   * @param types names, one of which must match; empty for all types
   * @param program null for all programs
   * @param host null for all hosts
   * @param where null for no condition
   */
  Selection(List<Glob> types, Glob program, Glob host, Condition where) {
    this.types = types;
    this.program = program;
    this.host = host;
    this.where = where == null ? null : new Filter(where);
  }

  /** Makes this the current batch; returns false if none of its events is selected. */
  boolean begin(BatchReader batch) {
    if (program != null && !program.matches(batch.program()) || host != null && !host.matches(batch.host())
        || batch.types().stream().noneMatch(this::hasType)) {
      return false;
    }
    if (where == null) {
      return true;
    }
    chosen = where.choose(batch);
    undecided += where.undecided();
    return !chosen.isEmpty();
  }

  /** Returns whether the current event of the current batch is selected. */
  boolean has(BatchReader batch) {
    return hasType(batch.type()) && (where == null || chosen.get(batch.eventIndex()));
  }

  /** Returns the number of events for which the condition could not be evaluated. */
  long undecided() {
    return undecided;
  }

  private boolean hasType(EventType type) {
    return types.isEmpty()
        || typeMatches.computeIfAbsent(type, t -> types.stream().anyMatch(glob -> glob.matches(t.name())));
  }
}
