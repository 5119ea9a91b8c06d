package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.ArchivedEvent;
import java.util.Set;

/** NetLogger's Best Practices: {@code ts=... event=... level=... name=value ...}. */
final class BpLines extends LineFormat {
  private final NetLoggerText text =
      new NetLoggerText(Set.of("ts", "event", "level", "host", "prog", "pid", "tid"));
  private final TimeText time = TimeText.iso();

  @Override
  void append(StringBuilder line, ArchivedEvent event) {
    line.append("ts=");
    time.append(line, event.timeNs(), 6);
    line.append("Z event=");
    NetLoggerText.appendValue(line, event.type().name());
    String level = event.type().level();
    line.append(" level=").append(Character.toUpperCase(level.charAt(0))).append(level, 1, level.length());
    text.appendMembers(line, event);
    line.append(" host=");
    NetLoggerText.appendValue(line, event.host());
    line.append(" prog=");
    NetLoggerText.appendValue(line, event.program());
    line.append(" pid=").append(event.pid()).append(" tid=").append(Long.toUnsignedString(event.thread())).append('\n');
  }
}
