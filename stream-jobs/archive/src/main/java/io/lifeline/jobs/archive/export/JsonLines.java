package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.ArchivedType;
import io.lifeline.jobs.core.FieldNames;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

/** A JSON object per line, as the job {@code decode} and {@code lifeline-cat} write it. */
public final class JsonLines extends LineFormat {
  private final TimeText time = TimeText.iso();
  private final Map<ArchivedType, String[]> names = new WeakHashMap<>();

  @Override
  public void append(StringBuilder line, ArchivedEvent event) {
    line.append("{\"ts\":\"");
    time.append(line, event.timeNs(), 9);
    line.append("Z\",\"ts_ns\":").append(event.timeNs()).append(",\"type\":");
    JsonText.append(line, event.type().name());
    line.append(",\"level\":\"").append(event.type().level()).append("\",\"host\":");
    JsonText.append(line, event.host());
    line.append(",\"program\":");
    JsonText.append(line, event.program());
    line.append(",\"pid\":").append(event.pid()).append(",\"thread\":").append(Long.toUnsignedString(event.thread()))
        .append(",\"incarnation\":\"").append(event.incarnation()).append("\",\"route\":").append(event.route())
        .append(",\"sequence\":").append(Long.toUnsignedString(event.sequence()))
        .append(",\"event_index\":").append(event.index());
    appendMembers(line, event);
    line.append("}\n");
  }

  /** JSON has no NaN and no infinities: such members are null, and {@code non_finite} has their values. */
  private void appendMembers(StringBuilder line, ArchivedEvent event) {
    List<ArchivedType.Member> members = event.type().members();
    String[] keys = names.computeIfAbsent(event.type(), JsonLines::keys);
    boolean finite = true;
    for (int i = 0; i < keys.length; i++) {
      Object value = event.values()[i];
      boolean isFinite = JsonText.isFinite(value);
      finite &= isFinite;
      JsonText.append(line.append(',').append(keys[i]), members.get(i).type(), isFinite ? value : null);
    }
    if (finite) {
      return;
    }
    String before = ",\"non_finite\":{";
    for (int i = 0; i < keys.length; i++) {
      if (!JsonText.isFinite(event.values()[i])) {
        JsonText.append(line.append(before).append(keys[i]), members.get(i).type(), event.values()[i]);
        before = ",";
      }
    }
    line.append('}');
  }

  private static String[] keys(ArchivedType type) {
    return type.members().stream().map(member -> {
      StringBuilder key = new StringBuilder();
      JsonText.append(key, FieldNames.beside(FieldNames.EVERY_EVENT, member.name()));
      return key.append(':').toString();
    }).toArray(String[]::new);
  }
}
