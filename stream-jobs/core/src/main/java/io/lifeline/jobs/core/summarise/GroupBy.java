package io.lifeline.jobs.core.summarise;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.EventType;
import java.util.Locale;

/** Attributes by which events can be grouped into summaries. */
public enum GroupBy {
  TYPE {
    @Override
    String value(BatchReader batch, EventType type) {
      return type.name();
    }
  },
  LEVEL {
    @Override
    String value(BatchReader batch, EventType type) {
      return type.level().label();
    }
  },
  HOST {
    @Override
    String value(BatchReader batch, EventType type) {
      return batch.host();
    }
  },
  PROGRAM {
    @Override
    String value(BatchReader batch, EventType type) {
      return batch.program();
    }
  },
  INCARNATION {
    @Override
    String value(BatchReader batch, EventType type) {
      return batch.incarnation().toString();
    }
  },
  ROUTE {
    @Override
    String value(BatchReader batch, EventType type) {
      return Integer.toString(batch.route());
    }
  };

  private final String label = name().toLowerCase(Locale.ROOT);

  static GroupBy parse(String label) {
    return valueOf(label.toUpperCase(Locale.ROOT));
  }

  /** The name in the configuration and in the summary. */
  String label() {
    return label;
  }

  abstract String value(BatchReader batch, EventType type);
}
