package io.lifeline.jobs.core.summarise;

import io.lifeline.jobs.core.FieldSelector;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import java.util.List;

/**
 * Settings of the job summarise. All times in nanoseconds.
 *
 * @param fields the fields to summarise, as {@code TYPE:FIELD}
 * @param by attributes that distinguish summaries, besides field and unit
 * @param maxWindows maximum number of open windows, over all keys; bounds the memory that emitters can occupy
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
