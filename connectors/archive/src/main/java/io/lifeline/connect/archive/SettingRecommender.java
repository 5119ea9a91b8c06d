package io.lifeline.connect.archive;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;

/**
 * Recommended values of a setting, and its visibility in forms.
 *
 * @param needed the setting that this one depends on; null if none
 */
record SettingRecommender(List<Object> values, String needed) implements ConfigDef.Recommender {

  static SettingRecommender of(Object... values) {
    return new SettingRecommender(List.of(values), null);
  }

  static SettingRecommender whenSet(String needed) {
    return new SettingRecommender(List.of(), needed);
  }

  SettingRecommender shownWhenSet(String other) {
    return new SettingRecommender(values, other);
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
