package io.lifeline.ksql;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Compression;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Batches for tests. */
final class Samples {

  static final long START_NS = 1_700_000_000_000_000_000L;

  /** A type with a field of each kind, and a constant. */
  static final EventType MIXED =
      EventType.named("mixed")
          .field("id", FieldType.U64)
          .field("i32", FieldType.I32)
          .field("f32", FieldType.F32)
          .field("f64", FieldType.F64)
          .field("name", FieldType.STRING)
          .field("ok", FieldType.BOOL)
          .field("raw", FieldType.BYTES)
          .constant("unit", FieldType.STRING, "", "bay 4")
          .build();

  static final EventType NO_ID = EventType.named("load").field("load", FieldType.F64).build();

  private Samples() {}

  static BatchWriter batch(int emitter, long sequence) {
    return new BatchWriter()
        .incarnation(new Incarnation(0xABCDL, emitter))
        .sequence(sequence)
        .host("host-" + emitter)
        .program("copy")
        .pid(42)
        .ticks(START_NS, 1_000_000_000, true)
        .thread(7);
  }

  /** Returns valid batches designed to harm readers. */
  static List<Path> hostile() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("..", "..", "..", "schemas", "vectors", "hostile"))) {
      return files.filter(file -> file.toString().endsWith(".llb")).sorted().collect(Collectors.toList());
    }
  }

  /** Returns two events, compressed in a way that needs a native library. */
  static ByteBuffer mixed() {
    return ByteBuffer.wrap(
        batch(1, 3)
            .compression(Compression.ZSTD, 8)
            .type(1, MIXED)
            .type(2, NO_ID)
            .event(MIXED, START_NS + 5, -1L, -7, 0.1f, 2.5, "a\"b", true, new byte[] {0, (byte) 0xab})
            .event(NO_ID, START_NS + 1_000_000_006L, Double.NaN)
            .toByteArray());
  }
}
