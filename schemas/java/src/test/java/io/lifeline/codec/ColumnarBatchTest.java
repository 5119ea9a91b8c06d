package io.lifeline.codec;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ColumnarBatchTest {

  private static final int EVENTS = 32_768;

  /** Each batch describes one type more than the previous one, and has only events of that type. */
  @Test
  void typesThatTakeTurnsFillNoMemory() throws Exception {
    ColumnarBatch columns = new ColumnarBatch();
    for (int last = 1; last <= 100; last++) {
      BatchWriter writer = new BatchWriter().incarnation(new Incarnation(0, 1));
      for (int number = 1; number <= last; number++) {
        writer.type(number, EventType.named("type." + number).field("id", FieldType.U32).build());
      }
      for (int i = 0; i < EVENTS; i++) {
        writer.event(last, i, i);
      }
      byte[] batch = writer.toByteArray();
      columns.fill(new BatchReader().read(batch, 0, batch.length));
      assertThat(columns.groups()).hasSize(1);
      ColumnarBatch.Columns group = columns.groups().get(0);
      assertThat(group.type().name()).isEqualTo("type." + last);
      assertThat(group.size()).isEqualTo(EVENTS);
      assertThat(group.longs(0)[EVENTS - 1]).isEqualTo(EVENTS - 1);
      assertThat(columns.heldBytes()).isLessThan(ColumnarBatch.MAX_HELD_BYTES + 40L * EVENTS);
    }
  }

  /** A process has a reader for each of its tasks, and messages of strangers must not exhaust its memory. */
  @Test
  void readersKeepLittleOfABatchOfThousandsOfTypes() throws Exception {
    BatchWriter writer = new BatchWriter().incarnation(new Incarnation(0, 1));
    for (int number = 1; number <= 20_000; number++) {
      writer.type(number, EventType.named("t" + number).build());
    }
    byte[] hostile = writer.toByteArray();
    List<BatchReader> readers = new ArrayList<>();
    long before = usedBytes();
    for (int i = 0; i < 4; i++) {
      BatchReader reader = new BatchReader();
      readers.add(reader);
      assertThat(reader.read(hostile, 0, hostile.length).columns().groups()).isEmpty();
    }
    assertThat(usedBytes() - before).isLessThan(readers.size() * 20L << 20);
  }

  private static long usedBytes() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  /** Bursts and cycles of all lengths, so that some types come in runs, some one by one, and some in both ways. */
  @Test
  void columnsHaveWhatIteratingGives() throws Exception {
    List<EventType> types = List.of(
        EventType.named("fixed").field("i", FieldType.I32).field("f", FieldType.F32).field("u", FieldType.U64).build(),
        EventType.named("other").field("d", FieldType.F64).field("u", FieldType.U32).build(),
        EventType.named("third").field("u", FieldType.U32).build(),
        EventType.named("bool").field("b", FieldType.BOOL).field("i", FieldType.I64).build(),
        EventType.named("text").field("s", FieldType.STRING).field("i", FieldType.I32).build());
    Random random = new Random(1);
    BatchReader reader = new BatchReader();
    for (int round = 0; round < 300; round++) {
      byte[] batch = bursts(types, random, round % 3 == 0 ? 1 : 60, round % 2 == 0);
      ColumnarBatch columns = reader.read(batch, 0, batch.length).columns();
      Map<String, List<List<Object>>> expected = new HashMap<>();
      while (reader.next()) {
        expected.computeIfAbsent(reader.type().name(), name -> new ArrayList<>()).add(row(reader));
      }
      Map<String, List<List<Object>>> found = new HashMap<>();
      for (ColumnarBatch.Columns group : columns.groups()) {
        found.put(group.type().name(), rows(group, random.nextBoolean()));
      }
      assertThat(found).isEqualTo(expected);
      assertThat(reader.columns()).isSameAs(columns);
    }
  }

  /** Calibrations lie between the events, and the first one behind the first of them. */
  private static byte[] bursts(List<EventType> types, Random random, int longest, boolean bigEndian) {
    BatchWriter writer = new BatchWriter().incarnation(new Incarnation(0, 1))
        .byteOrder(bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN).ticks(1_000, 1_000_000_000, true);
    long step = 1 + random.nextInt(100_000);
    for (int i = 0; i < 5; i++) {
      long at = 1_000 + 10 * step + i * 300 * step;
      writer.calibration(at, at + i * step, 1_700_000_000_000_000_000L, 10, false);
    }
    long tick = 1_000;
    for (int burst = 0; burst < 40; burst++) {
      if (burst % 10 == 0) {
        writer.thread(100 + burst);
      }
      List<EventType> cycle = new ArrayList<>(types);
      Collections.shuffle(cycle, random);
      int size = 1 + random.nextInt(3);
      for (int i = random.nextInt(longest * size); i >= 0; i--) {
        EventType type = cycle.get(i % size);
        tick += random.nextInt((int) step + 1);
        writer.event(type, tick, type.fields().stream().map(field -> value(field.type(), random)).toArray());
      }
    }
    return writer.toByteArray();
  }

  private static Object value(FieldType type, Random random) {
    switch (type) {
      case STRING:
        return "x".repeat(random.nextInt(20));
      case BOOL:
        return random.nextBoolean();
      case F32:
        return random.nextFloat();
      case F64:
        return random.nextDouble();
      case I32:
        return random.nextInt();
      case U32:
        return random.nextLong() & 0xffff_ffffL;
      default:
        return random.nextLong();
    }
  }

  private static List<Object> row(BatchReader reader) {
    List<Object> row = new ArrayList<>(List.of(reader.timeNs(), reader.thread(), reader.eventIndex()));
    for (int field = 0; field < reader.type().fields().size(); field++) {
      FieldType type = reader.type().fields().get(field).type();
      row.add(type.isVariable() ? reader.getString(field)
          : type.isFloating() ? (Object) reader.getDouble(field) : (Object) reader.getLong(field));
    }
    return row;
  }

  private static List<List<Object>> rows(ColumnarBatch.Columns group, boolean indexFirst) {
    if (indexFirst) {
      group.eventIndex(); // lists the events of runs, too
    }
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < group.size(); i++) {
      List<Object> row = new ArrayList<>(List.of(group.timeNs()[i], group.thread()[i], group.eventIndex()[i]));
      for (int field = 0; field < group.type().fields().size(); field++) {
        FieldType type = group.type().fields().get(field).type();
        row.add(type.isVariable() ? Utf8.decode(group.raw(), group.offsets(field)[i], group.lengths(field)[i])
            : type.isFloating() ? (Object) group.doubles(field)[i] : (Object) group.longs(field)[i]);
      }
      rows.add(row);
    }
    return rows;
  }
}
