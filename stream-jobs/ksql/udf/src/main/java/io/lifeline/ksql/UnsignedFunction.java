package io.lifeline.ksql;

import io.confluent.ksql.function.udf.Udf;
import io.confluent.ksql.function.udf.UdfDescription;
import io.confluent.ksql.function.udf.UdfParameter;

/** ksqlDB has no unsigned numbers: a u64 of 2^63 or more arrives in a BIGINT column as a negative one. */
@UdfDescription(
    name = "lifeline_unsigned",
    description = "Writes a BIGINT that holds an unsigned 64-bit number without a sign",
    category = Functions.CATEGORY,
    author = Functions.AUTHOR,
    version = Functions.VERSION)
public final class UnsignedFunction {

  @Udf(description = "The number as text, from 0 to 18446744073709551615")
  public String unsigned(@UdfParameter(description = "the same 64 bits with a sign") Long value) {
    return value == null ? null : Long.toUnsignedString(value);
  }
}
