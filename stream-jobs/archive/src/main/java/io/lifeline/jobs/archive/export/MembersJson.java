package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.ArchivedType;
import java.util.List;

/** Writes an event's members as one JSON object; NaN and infinities as text, like the archive's views. */
final class MembersJson {
  private MembersJson() {}

  static void append(StringBuilder out, ArchivedEvent event) {
    List<ArchivedType.Member> members = event.type().members();
    out.append('{');
    for (int i = 0; i < members.size(); i++) {
      if (i > 0) {
        out.append(',');
      }
      JsonText.append(out, members.get(i).name());
      JsonText.append(out.append(':'), members.get(i).type(), event.values()[i]);
    }
    out.append('}');
  }
}
