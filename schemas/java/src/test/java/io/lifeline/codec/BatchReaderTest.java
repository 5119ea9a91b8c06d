package io.lifeline.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class BatchReaderTest {
  private static final EventType TABLE_1 =
      EventType.named("MY_EVENT").field("i", FieldType.I32).field("f", FieldType.F32).build();
  private static final EventType NAMED =
      EventType.named("file.open")
          .level(Level.DEBUG)
          .field("name", FieldType.STRING)
          .field("size", FieldType.U64, "B")
          .field("key", FieldType.BYTES)
          .field("found", FieldType.BOOL)
          .constant("stage", FieldType.STRING, "", "disk")
          .build();

  private final BatchReader reader = new BatchReader();

  private BatchReader read(byte[] batch) throws RejectedBatchException {
    return reader.read(batch, 0, batch.length);
  }

  static java.util.List<Path> validVectors() {
    return Vectors.valid();
  }

  static java.util.List<Path> invalidVectors() {
    return Vectors.invalid();
  }

  @ParameterizedTest
  @MethodSource("validVectors")
  void everyValidVectorReadsTheSameByEventAndInColumns(Path file) throws RejectedBatchException {
    new Walk().everything(read(Vectors.bytes(file)));
  }

  @ParameterizedTest
  @MethodSource("invalidVectors")
  void everyInvalidVectorIsRejectedAndLeavesNoBatchBehind(Path file) throws RejectedBatchException {
    read(new BatchWriter().toByteArray());
    assertThatThrownBy(() -> read(Vectors.bytes(file))).isInstanceOf(RejectedBatchException.class);
    assertThat(reader.next()).isFalse();
    assertThatThrownBy(reader::host)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("no batch was read, or the last one was rejected");
  }

  @Test
  void aBatchOfManySegmentsAndTypesReadsTheSameByEventAndInColumns() throws RejectedBatchException {
    BatchWriter writer = new BatchWriter();
    for (int thread = 0; thread < 500; thread++) {
      writer.thread(thread);
      for (int i = 0; i <= thread % 3; i++) {
        writer.event(EventType.named("type." + (7 * thread + i) % 40).build(), thread);
      }
    }
    new Walk().everything(read(writer.toByteArray()));
  }

  @ParameterizedTest
  @EnumSource(Compression.class)
  void whatIsWrittenIsRead(Compression compression) throws RejectedBatchException {
    for (ByteOrder order : new ByteOrder[] {ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN}) {
      byte[] batch =
          new BatchWriter()
              .byteOrder(order)
              .compression(compression, compression == Compression.NONE ? 0 : 16)
              .incarnation(new Incarnation(0x0123456789abcdefL, -1))
              .sequence(7)
              .route(3, "detail")
              .host("foo.lbl.gov")
              .program("copy")
              .pid(4_000_000_000L)
              .context("session", "a")
              .context("session", "b")
              .ticks(1000, 1_000_000_000, true)
              .calibration(0, 0, 500, 10, false)
              .thread(42)
              .event(TABLE_1, 1001, -5, 2.5f)
              .thread(43)
              .event(NAMED, 999, "ü", -1L, new byte[] {1, 2}, true)
              .event(TABLE_1, 1002, 6, Float.NaN)
              .toByteArray();
      read(batch);
      assertThat(reader.incarnation()).hasToString("0123456789abcdefffffffffffffffff");
      assertThat(reader.sequence()).isEqualTo(7);
      assertThat(reader.routeName()).isEqualTo("detail");
      assertThat(reader.pid()).isEqualTo(4_000_000_000L);
      assertThat(reader.context()).containsExactly(java.util.Map.entry("session", "b"));
      assertThat(reader.counter(Counter.EMITTED)).isEqualTo(3);

      assertThat(reader.next()).isTrue();
      assertThat(reader.type()).isEqualTo(TABLE_1);
      assertThat(reader.timeNs()).isEqualTo(1501);
      assertThat(reader.thread()).isEqualTo(42);
      assertThat(reader.getLong(0)).isEqualTo(-5);
      assertThat(reader.getDouble(1)).isEqualTo(2.5);
      assertThat(reader.next()).isTrue();
      assertThat(reader.type()).isEqualTo(NAMED);
      assertThat(reader.type().constants().get(0).value()).isEqualTo("disk");
      assertThat(reader.tick()).isEqualTo(999);
      assertThat(reader.thread()).isEqualTo(43);
      assertThat(reader.getString(0)).isEqualTo("ü");
      assertThat(Long.toUnsignedString(reader.getLong(1))).isEqualTo("18446744073709551615");
      assertThat(reader.getBytes(2)).containsExactly(1, 2);
      assertThat(reader.getBoolean(3)).isTrue();
      assertThat(reader.next()).isTrue();
      assertThat(reader.next()).isFalse();
      new Walk().everything(reader);
    }
  }

  @Test
  void aTypeIsTheSameInstanceInEveryBatchWhateverItsNumberAndByteOrder() throws RejectedBatchException {
    EventType first = read(new BatchWriter().type(1, TABLE_1).toByteArray()).types().get(0);
    EventType second = read(new BatchWriter().type(9, TABLE_1).toByteArray()).types().get(0);
    EventType third =
        read(new BatchWriter().byteOrder(ByteOrder.BIG_ENDIAN).type(2, TABLE_1).toByteArray()).types().get(0);
    assertThat(second).isSameAs(first);
    assertThat(third).isSameAs(first);
    assertThat(reader.typeNumber(0)).isEqualTo(2);
  }

  @Test
  void aValueThatDoesNotFitIsNamedByItsFieldAndNotShown() {
    assertThatThrownBy(() -> new BatchWriter().event(TABLE_1, 1, 1L << 31, 1f))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("%s.%s: the value does not fit I32", TABLE_1.name(), TABLE_1.fields().get(0).name());
  }

  @Test
  void aStringThatIsNoUtf8IsDeliveredWithAReplacementPerByte() throws RejectedBatchException {
    byte[] latin1 = "caf\u00e9 \u4e2d".getBytes(StandardCharsets.UTF_8);
    latin1[3] = (byte) 0xff;
    read(new BatchWriter().event(NAMED, 1, latin1, 1L, new byte[0], false).toByteArray()).next();
    assertThat(reader.getString(0)).isEqualTo("caf\uFFFD\uFFFD \u4e2d");
  }

  @Test
  void aGetterOfAnotherTypeSaysWhatTheFieldIs() throws RejectedBatchException {
    read(new BatchWriter().event(TABLE_1, 1, 1, 1f).toByteArray()).next();
    assertThatThrownBy(() -> reader.getLong(1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("MY_EVENT.f is F32, not an integer or a bool");
    assertThatThrownBy(() -> reader.getString(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("MY_EVENT.i is I32, not a string");
  }

  @Test
  void aBatchIsReadFromTheMiddleOfAnArrayAndOffsetsCountFromItsStart() throws RejectedBatchException {
    byte[] batch = new BatchWriter().event(TABLE_1, 1, 1, 1f).toByteArray();
    byte[] around = new byte[batch.length + 20];
    System.arraycopy(batch, 0, around, 13, batch.length);
    reader.read(around, 13, batch.length);
    new Walk().everything(reader);

    around[13 + 4] = 9;
    assertThatThrownBy(() -> reader.read(around, 13, batch.length))
        .hasToString("bad_version at 4: version 9 of the format is not known here, only 1");
  }

  @Test
  void aRejectionNeverHoldsBytesOfTheBatch() {
    byte[] batch = new BatchWriter().host("secret-host").toByteArray();
    byte[] corrupt = Arrays.copyOf(batch, batch.length);
    corrupt[BatchHeader.FIXED_LENGTH + 12 * 8 + 32 + 2] = (byte) 0xff;
    Repair.crc(corrupt);
    assertThatThrownBy(() -> read(corrupt))
        .isInstanceOfSatisfying(RejectedBatchException.class, e -> assertThat(e.code()).isEqualTo("bad_text"))
        .hasMessage("the host is not UTF-8");
  }
}
