package io.lifeline.jobs.core.summarise;

import io.lifeline.jobs.core.JsonWriter;
import io.lifeline.jobs.core.Timestamps;

/** Formats a summary for publication. */
final class SummaryJson {

  private SummaryJson() {}

  static byte[] of(long startNs, long windowNs, String key, long revision, Aggregate aggregate) {
    JsonWriter json =
        new JsonWriter()
            .beginObject()
            .field("job", SummariseJob.NAME)
            .field("window_start", Timestamps.iso(startNs))
            .field("window_end", Timestamps.iso(startNs + windowNs))
            .field("window_start_ns", startNs)
            .field("window_end_ns", startNs + windowNs)
            .field("revision", revision);
    SummaryKey.parts(key).forEach(json::field);
    return json.field("count", aggregate.count())
        .field("nan", aggregate.notANumber())
        .field("positive_infinity", aggregate.positiveInfinity())
        .field("negative_infinity", aggregate.negativeInfinity())
        .field("min", aggregate.min())
        .field("max", aggregate.max())
        .field("sum", aggregate.sum())
        .field("mean", aggregate.mean())
        .field("stddev", aggregate.standardDeviation())
        .field("p50", aggregate.quantile(0.5))
        .field("p90", aggregate.quantile(0.9))
        .field("p99", aggregate.quantile(0.99))
        .field("p99_9", aggregate.quantile(0.999))
        .endObject()
        .toBytes();
  }
}
