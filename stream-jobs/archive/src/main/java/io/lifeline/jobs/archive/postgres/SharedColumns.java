package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.ColumnarBatch;
import java.util.List;

/** The columns of the table that many types share: what the view over all events shows, ready made. */
final class SharedColumns implements TypeColumns {
  private final EventTable.Version version;
  private ColumnarBatch.Columns events;

  SharedColumns(EventTable.Version version) {
    this.version = version;
  }

  @Override
  public List<String> names() {
    return EventTable.SHARED_COLUMNS;
  }

  @Override
  public void start(ColumnarBatch.Columns group) {
    events = group;
  }

  @Override
  public void put(int event, CopyBuffer out) {
    EventValues values = EventValues.of(version, events, event);
    out.putText(version.table().name());
    out.putText(version.type().level());
    String id = values.id();
    if (id == null) {
      out.putNull();
    } else {
      out.putText(id);
    }
    out.putJson(values.json());
  }
}
