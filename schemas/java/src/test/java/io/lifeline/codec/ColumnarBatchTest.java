package io.lifeline.codec;

import static org.assertj.core.api.Assertions.assertThat;

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
      assertThat(columns.held()).isLessThan(ColumnarBatch.MAX_HELD + EVENTS);
    }
  }
}
