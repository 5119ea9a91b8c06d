package io.lifeline.jobs.core.filter;

import static io.lifeline.jobs.core.TestBatches.batch;
import static io.lifeline.jobs.core.TestBatches.tick;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import java.util.Random;

/** Batches of events with values at the boundaries of comparisons, of two types that share only some fields. */
final class Samples {

  static final EventType SAMPLE =
      EventType.named("sample")
          .field("i32", FieldType.I32)
          .field("i64", FieldType.I64)
          .field("u32", FieldType.U32)
          .field("u64", FieldType.U64)
          .field("text", FieldType.STRING)
          .field("f32", FieldType.F32)
          .field("f64", FieldType.F64)
          .field("flag", FieldType.BOOL)
          .field("blob", FieldType.BYTES)
          .field("host", FieldType.STRING)
          .field("dotted.name", FieldType.I64)
          .constant("limit", FieldType.F64, "", 1.5)
          .constant("stage", FieldType.STRING, "", "a")
          .build();

  static final EventType OTHER =
      EventType.named("other").field("i64", FieldType.F64).field("flag", FieldType.I32).build();

  private static final long[] LONGS = {
    Long.MIN_VALUE, -(1L << 53) - 1, -1, 0, 1, 2, 3, (1L << 53) + 1, Long.MAX_VALUE - 1, Long.MAX_VALUE
  };
  private static final double[] DOUBLES = {
    Double.NaN, Double.NEGATIVE_INFINITY, -1e300, -1.5, -Double.MIN_VALUE, -0.0, 0.0, Double.MIN_VALUE, 1, 1.5, 0x1p53,
    0x1p63, 0x1p64, Double.POSITIVE_INFINITY
  };
  private static final Object[] TEXTS = {
    "", "a", "ab", "abc", "b", "é", "aé", "\ufffd", new byte[] {'a', (byte) 0xc3}, new byte[] {(byte) 0xff, 'b'}
  };

  private Samples() {}

  static BatchWriter random(Random random, int events) {
    BatchWriter writer = batch(1, 1);
    for (int i = 0; i < events; i++) {
      if (random.nextInt(4) == 0) {
        writer.event(OTHER, tick(i), real(random), random.nextInt(2));
      } else {
        writer.event(
            SAMPLE, tick(i), (int) integer(random), integer(random), integer(random) & 0xffff_ffffL, integer(random),
            text(random), (float) real(random), real(random), random.nextBoolean(), new byte[] {'a'}, text(random),
            integer(random));
      }
    }
    return writer;
  }

  private static long integer(Random random) {
    return LONGS[random.nextInt(LONGS.length)];
  }

  private static double real(Random random) {
    return DOUBLES[random.nextInt(DOUBLES.length)];
  }

  private static Object text(Random random) {
    return TEXTS[random.nextInt(TEXTS.length)];
  }
}
