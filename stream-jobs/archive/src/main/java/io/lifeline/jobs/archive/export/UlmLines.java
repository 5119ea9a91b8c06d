package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.ArchivedEvent;
import java.util.Set;

/** ULM as GridFTP servers write it: {@code DATE=... HOST=... PROG=... LVL=... NL.EVNT=... name=value ...}. */
final class UlmLines extends LineFormat {
  private final NetLoggerText text = new NetLoggerText(Set.of("DATE", "HOST", "PROG", "LVL", "NL.EVNT"));
  private final TimeText time = TimeText.ulm();

  @Override
  void append(StringBuilder line, ArchivedEvent event) {
    line.append("DATE=");
    time.append(line, event.timeNs(), 6);
    line.append(" HOST=");
    NetLoggerText.appendValue(line, event.host());
    line.append(" PROG=");
    NetLoggerText.appendValue(line, event.program());
    line.append(" LVL=").append(level(event.type().level())).append(" NL.EVNT=");
    NetLoggerText.appendValue(line, event.type().name());
    text.appendMembers(line, event);
    line.append('\n');
  }

  /** ULM defines its own levels; info, the level of normal operation, is Usage. */
  private static String level(String level) {
    return switch (level) {
      case "fatal" -> "Emergency";
      case "error" -> "Error";
      case "warn" -> "Warning";
      case "info" -> "Usage";
      default -> "Debug";
    };
  }
}
