package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.TypeEntry;
import io.lifeline.jobs.core.JsonWriter;

/** Writes constants as JSON, with the same names for infinities and NaN as {@code to_jsonb} uses for fields. */
final class PostgresJson {
  private PostgresJson() {}

  static void constant(JsonWriter json, TypeEntry.ConstantEntry constant) {
    double value = constant.fieldType().isFloating() ? Double.parseDouble(constant.value()) : 0;
    if (Double.isFinite(value)) {
      constant.writeJson(json);
    } else {
      json.value(Double.toString(value));
    }
  }
}
