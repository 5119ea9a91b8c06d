package io.lifeline.connect.archive;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;

/** Values that are good choices, for those who configure by a form; others are allowed. */
record Suggestions(List<Object> values) implements ConfigDef.Recommender {

  Suggestions(Object... values) {
    this(List.of(values));
  }

  @Override
  public List<Object> validValues(String name, Map<String, Object> settings) {
    return values;
  }

  @Override
  public boolean visible(String name, Map<String, Object> settings) {
    return true;
  }
}
