package io.lifeline.jobs.archive.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.servers.PostgresServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Compares the text of floats with the server's. */
@Tag("system")
class FloatTextTest {
  private static final int RANDOM = 20_000;

  private final Random random = new Random(1);

  @Test
  void doublesAreWrittenAsByTheServer() throws Exception {
    List<Double> values = new ArrayList<>(List.of(0.0, -0.0, 1.0, -1.5, 0.1, 5e-324, 2e-323, Double.MIN_NORMAL,
        Double.MAX_VALUE, 2e-3, 1e23, 1e15, 999_999_999_999_999.0, 1e14, 1e-4, 9.9e-5, 0x1p-44, 0x1p53, 123_456.789));
    values.addAll(List.of(Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY));
    for (int i = 0; i < RANDOM; i++) {
      values.add(Double.longBitsToDouble(random.nextLong()));
      values.add(random.nextInt(1_000_000) / 1e3);
      values.add(1 / (double) random.nextInt());
      values.add(Math.scalb(1.0, random.nextInt(2_098) - 1_074));
    }
    assertSame(values.stream().map(FloatText::of).toList(), server("float8", values));
  }

  @Test
  void floatsAreWrittenAsByTheServer() throws Exception {
    List<Float> values = new ArrayList<>(List.of(0f, -0f, 1f, 0.1f, Float.MIN_VALUE, Float.MIN_NORMAL, Float.MAX_VALUE,
        1e6f, 999_999f, 1_234_567f, 1e-4f, 9.9e-5f, 16_777_216f, Float.NaN, Float.POSITIVE_INFINITY));
    for (int i = 0; i < RANDOM; i++) {
      values.add(Float.intBitsToFloat(random.nextInt()));
      values.add(random.nextInt(1_000_000) / 1e3f);
      values.add(Math.scalb(1f, random.nextInt(277) - 149));
    }
    assertSame(values.stream().map(FloatText::of).toList(), server("float4", values));
  }

  /** Lists only the differences. */
  private static void assertSame(List<String> ours, List<String> servers) {
    assertThat(IntStream.range(0, ours.size()).filter(i -> !ours.get(i).equals(servers.get(i)))
        .mapToObj(i -> ours.get(i) + " is " + servers.get(i))).isEmpty();
  }

  /** Returns the server's text of values, which it reads from Java's. */
  private static List<String> server(String type, List<?> values) throws Exception {
    List<String> texts = new ArrayList<>();
    try (Connection connection = PostgresServer.shared().connect();
        PreparedStatement query = connection.prepareStatement(
            "SELECT v::text FROM unnest(?::" + type + "[]) WITH ORDINALITY AS u (v, i) ORDER BY i")) {
      query.setArray(1, connection.createArrayOf("text", values.stream().map(Object::toString).toArray()));
      try (ResultSet rows = query.executeQuery()) {
        while (rows.next()) {
          texts.add(rows.getString(1));
        }
      }
    }
    return texts;
  }
}
