package io.lifeline.jobs.archive;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.lifeline.jobs.core.JsonWriter;
import java.util.Map;

/** Writes and reads the archive's JSON. */
public final class Json {
  /** Ignores unknown properties of later versions, and writes snake_case. */
  public static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private Json() {}

  /** Writes a float with as few digits as identify it. */
  public static void number(JsonWriter json, float value) {
    number(json, Double.parseDouble(Float.toString(value)));
  }

  /** Writes a number; infinities and NaN, which JSON lacks, are written as text. */
  public static void number(JsonWriter json, double value) {
    if (Double.isNaN(value)) {
      json.value("nan");
    } else if (Double.isInfinite(value)) {
      json.value(value > 0 ? "inf" : "-inf");
    } else {
      json.value(value);
    }
  }

  public static String object(Map<String, String> map) {
    if (map.isEmpty()) {
      return "{}";
    }
    try {
      return MAPPER.writeValueAsString(map);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("text always fits JSON", e);
    }
  }
}
