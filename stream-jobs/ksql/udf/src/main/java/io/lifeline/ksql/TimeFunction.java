package io.lifeline.ksql;

import io.confluent.ksql.function.udf.Udf;
import io.confluent.ksql.function.udf.UdfDescription;
import io.confluent.ksql.function.udf.UdfParameter;

/** ksqlDB's own timestamps have only millisecond resolution. */
@UdfDescription(
    name = "lifeline_time",
    description = "Writes nanoseconds since the Unix epoch as ISO 8601 in UTC with nine digits",
    category = Functions.CATEGORY,
    author = Functions.AUTHOR,
    version = Functions.VERSION)
public final class TimeFunction {

  @Udf(description = "The instant as text, such as 2026-11-21T12:00:00.000000001Z")
  public String time(@UdfParameter(description = "nanoseconds since the Unix epoch") Long ns) {
    return ns == null ? null : Nanoseconds.iso(ns);
  }
}
