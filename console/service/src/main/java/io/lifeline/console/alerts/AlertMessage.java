package io.lifeline.console.alerts;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** Judges messages of the alerts' destination, to which others than the jobs may be allowed to publish. */
public final class AlertMessage {
  private static final int MOST_BYTES = 64 << 10;
  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();
  private static final TypeReference<LinkedHashMap<String, Object>> MEMBERS = new TypeReference<>() {};

  private AlertMessage() {}

  /** Returns the members of an alert; null if the message is not one JSON object, or longer than 64 KiB. */
  public static Map<String, Object> members(byte[] message) {
    if (message.length > MOST_BYTES) {
      return null;
    }
    try {
      return JSON.readValue(message, MEMBERS);
    } catch (IOException e) {
      return null;
    }
  }
}
