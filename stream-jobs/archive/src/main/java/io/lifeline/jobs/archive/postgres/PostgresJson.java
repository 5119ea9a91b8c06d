package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.TypeEntry;
import io.lifeline.jobs.core.JsonWriter;

/** Constants as JSON, infinities and NaN by the names that {@code to_jsonb} gives to those of fields beside them. */
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
