package io.lifeline.jobs.core.pair;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * What tells one pair of an emitter from another.
 *
 * @param operation the common part of the types' names
 * @param values of the fields that both halves have: {@link Long} or {@link String} each
 */
record Pair(String operation, List<Object> values) {

  private static final int NUMBER = 0;
  private static final int TEXT = 1;

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
