package io.lifeline.jobs.cli.tail;

import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.ArchivedType;
import io.lifeline.jobs.archive.export.NetLoggerText;
import io.lifeline.jobs.archive.export.TimeText;
import io.lifeline.jobs.core.Terminal;
import java.time.ZoneId;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * An event in columns: time, type, level, host, program, pid, then its constants and fields as {@code lifeline-cat -f
 * bp} writes them. A column becomes wider when a longer name comes, up to a limit, since coming events are unknown.
 */
final class ColumnText implements LineText {
  private static final String PLAIN = "\033[m";
  private static final String DIM = "\033[2m";

  /** A column of names. */
  private static final class Column {
    private final int limit;
    private int width;
    private String lastName;
    private String lastText;

    Column(int width, int limit) {
      this.width = width;
      this.limit = limit;
    }

    void append(StringBuilder to, String name) {
      if (name != lastName) { // events of a batch have the same String
        lastName = name;
        lastText = Terminal.printable(name);
      }
      append(to, lastText, lastText.codePointCount(0, lastText.length()));
    }

    void append(StringBuilder to, String text, int length) {
      width = Math.max(width, Math.min(length, limit));
      to.append(text);
      for (int i = length; i < width + 2; i++) {
        to.append(' ');
      }
    }
  }

  private final TimeText time;
  private final boolean hasColour;
  private final NetLoggerText members = new NetLoggerText(Set.of());
  private final Map<ArchivedType, String> typeNames = new WeakHashMap<>();
  private final Column type = new Column(16, 40);
  private final Column level = new Column(5, 6);
  private final Column host = new Column(8, 30);
  private final Column program = new Column(8, 24);
  private final Column pid = new Column(5, 10);

  /** @param zone of the times */
  ColumnText(ZoneId zone, boolean hasColour) {
    this.time = TimeText.iso(zone);
    this.hasColour = hasColour;
  }

  @Override
  public void append(StringBuilder to, ArchivedEvent event) {
    colour(to, DIM);
    time.append(to, event.timeNs(), 6);
    to.append("  ");
    colour(to, PLAIN);
    colour(to, colour(event.type().level()));
    String name = typeNames.computeIfAbsent(event.type(), t -> Terminal.printable(t.name()));
    type.append(to, name, name.codePointCount(0, name.length()));
    level.append(to, event.type().level(), event.type().level().length());
    colour(to, PLAIN);
    host.append(to, event.host());
    program.append(to, event.program());
    String number = Long.toString(event.pid());
    pid.append(to, number, number.length());
    to.setLength(to.length() - 2); // each member begins with a space
    to.append(' ');
    members.appendMembers(to, event);
    int end = to.length();
    while (to.charAt(end - 1) == ' ') {
      end--;
    }
    to.setLength(end);
    to.append('\n');
  }

  private void colour(StringBuilder to, String code) {
    if (hasColour) {
      to.append(code);
    }
  }

  private static String colour(String level) {
    return switch (level) {
      case "fatal", "error" -> "\033[31m";
      case "warn" -> "\033[33m";
      case "info" -> "\033[36m";
      default -> DIM;
    };
  }
}
