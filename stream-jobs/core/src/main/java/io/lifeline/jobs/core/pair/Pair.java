package io.lifeline.jobs.core.pair;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Identifies a pair of an emitter.
 *
 * @param operation the common part of the types' names
 * @param values of the fields that both halves have: {@link Long} or {@link String} each
 */
record Pair(String operation, List<Object> values) {

  private static final int HALF_BYTES = 32;
  private static final int NUMBER_BYTES = 11;
  private static final int TEXT_HEAD_BYTES = 4;

  private static final int NUMBER = 0;
  private static final int TEXT = 1;

  /** Returns the maximum size of a waiting half in saved state, including this pair. */
  int bytes() {
    int bytes = HALF_BYTES + length(operation);
    for (Object value : values) {
      bytes += value instanceof String text ? TEXT_HEAD_BYTES + length(text) : NUMBER_BYTES;
    }
    return bytes;
  }

  private static int length(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }

  void encode(StateWriter out) {
    out.text(operation).varint(values.size());
    for (Object value : values) {
      if (value instanceof Long number) {
        out.fixed8(NUMBER).zigzag(number);
      } else {
        out.fixed8(TEXT).text((String) value);
      }
    }
  }

  static Pair decode(StateReader in) {
    String operation = in.text();
    List<Object> values = new ArrayList<>();
    for (int left = in.count(2); left > 0; left--) {
      values.add(in.fixed8() == NUMBER ? (Object) in.zigzag() : in.text());
    }
    return new Pair(operation, values);
  }
}
