package io.lifeline.connect.archive;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;

/**
 * For those who configure by a form: values that are good choices, where others are allowed, and whether a setting
 * has a meaning now.
 *
 * @param needed the setting without which this one has no meaning; null if there is none
 */
record Advice(List<Object> values, String needed) implements ConfigDef.Recommender {

  static Advice of(Object... values) {
    return new Advice(List.of(values), null);
  }

  static Advice whenSet(String needed) {
    return new Advice(List.of(), needed);
  }

  Advice shownWhenSet(String other) {
    return new Advice(values, other);
  }

  @Override
  public List<Object> validValues(String name, Map<String, Object> settings) {
    return values;
  }

  @Override
  public boolean visible(String name, Map<String, Object> settings) {
    return needed == null || settings.get(needed) != null;
  }
}
