package io.lifeline.jobs.core.summarise;

import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import java.util.List;

/**
 * What is summarised, and how. All times in nanoseconds.
 *
 * @param fields which fields, as {@code TYPE:FIELD}
 * @param by what apart from field and unit makes a summary of its own
 * @param maxWindows windows, over all keys, that are held at once: whoever may emit must not be able to fill the memory
 */
public record SummariseSettings(
    long windowNs,
    List<FieldSelector> fields,
    List<GroupBy> by,
    long lateNs,
    long idleNs,
    long skewNs,
    int maxWindows) {

  public static SummariseSettings of(JobConfig config) {
    return new SummariseSettings(
        config.get(Keys.SUMMARISE_WINDOW).toNanos(),
        config.get(Keys.SUMMARISE_FIELDS).stream().map(FieldSelector::parse).toList(),
        config.get(Keys.SUMMARISE_BY).stream().map(GroupBy::parse).toList(),
        config.get(Keys.SUMMARISE_LATE).toNanos(),
        config.get(Keys.SUMMARISE_IDLE).toNanos(),
        config.get(Keys.SUMMARISE_SKEW).toNanos(),
        config.get(Keys.SUMMARISE_MAX_WINDOWS));
  }

  boolean selects(String type, String field) {
    return fields.stream().anyMatch(selector -> selector.matches(type, field));
  }
}
