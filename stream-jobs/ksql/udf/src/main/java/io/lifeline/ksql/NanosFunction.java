package io.lifeline.ksql;

import io.confluent.ksql.function.udf.Udf;
import io.confluent.ksql.function.udf.UdfDescription;
import io.confluent.ksql.function.udf.UdfParameter;

/** The inverse of {@link TimeFunction}, exact to the nanosecond. */
@UdfDescription(
    name = "lifeline_nanos",
    description = "Reads ISO 8601 in UTC as nanoseconds since the Unix epoch",
    category = Functions.CATEGORY,
    author = Functions.AUTHOR,
    version = Functions.VERSION)
public final class NanosFunction {

  @Udf(description = "Nanoseconds since the Unix epoch")
  public Long nanos(@UdfParameter(description = "such as 2026-11-21T12:00:00.000000001Z") String iso) {
    return iso == null ? null : Nanoseconds.parse(iso);
  }
}
