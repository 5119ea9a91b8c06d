package io.lifeline.jobs.core.filter;

import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import java.util.Map;
import java.util.TreeMap;

/**
 * Settings of the job filter.
 *
 * @param conditions by the name of their derived stream
 * @param retentionMs how long the broker keeps batches
 */
public record FilterSettings(Map<String, Condition> conditions, long retentionMs) {

  public static FilterSettings of(JobConfig config) {
    Map<String, Condition> conditions = new TreeMap<>();
    config.filters().forEach((name, text) -> conditions.put(name, condition(name, text)));
    conditions.keySet().forEach(name -> config.checkOutput(Keys.FILTER_PREFIX + name, name));
    if (conditions.isEmpty()) {
      throw new ConfigException(
          "the job filter needs a condition: set " + Keys.FILTER_PREFIX + "NAME, such as " + Keys.FILTER_PREFIX
              + "large=type.startsWith(\"disk.\") && nbytes > 1000000");
    }
    return new FilterSettings(conditions, config.get(Keys.RETENTION).toMillis());
  }

  private static Condition condition(String name, String text) {
    try {
      return Condition.parse(text);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(Keys.FILTER_PREFIX + name + "=" + text + ": " + e.getMessage());
    }
  }
}
