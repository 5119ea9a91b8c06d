package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.ArchivedType;
import io.lifeline.jobs.core.Terminal;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/**
 * XML 1.0: an element {@code event} per event, with an element {@code field} for each constant and field. Text with
 * characters that XML does not allow is written in base64, in the attribute {@code NAME-base64} instead of {@code
 * NAME}.
 */
final class XmlLines extends LineFormat {
  private final TimeText time = TimeText.iso();

  @Override
  String head() {
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<events>\n";
  }

  @Override
  String foot() {
    return "</events>\n";
  }

  @Override
  void append(StringBuilder line, ArchivedEvent event) {
    line.append("<event ts=\"");
    time.append(line, event.timeNs(), 9);
    line.append("Z\" ts_ns=\"").append(event.timeNs()).append('"');
    attribute(line, "type", event.type().name());
    attribute(line, "level", event.type().level());
    attribute(line, "host", event.host());
    attribute(line, "program", event.program());
    line.append(" pid=\"").append(event.pid()).append("\" thread=\"").append(Long.toUnsignedString(event.thread()))
        .append("\" incarnation=\"").append(event.incarnation()).append("\" route=\"").append(event.route())
        .append("\" sequence=\"").append(Long.toUnsignedString(event.sequence()))
        .append("\" event_index=\"").append(event.index()).append("\">");
    List<ArchivedType.Member> members = event.type().members();
    for (int i = 0; i < members.size(); i++) {
      if (event.values()[i] != null) {
        field(line, members.get(i), event.values()[i]);
      }
    }
    line.append("</event>\n");
  }

  private static void field(StringBuilder line, ArchivedType.Member member, Object value) {
    line.append("<field");
    attribute(line, "name", member.name());
    line.append(" type=\"").append(member.type().label()).append('"');
    if (!member.unit().isEmpty()) {
      attribute(line, "unit", member.unit());
    }
    if (value instanceof String text) {
      attribute(line, "value", text);
    } else {
      line.append(" value=\"");
      if (JsonText.isFinite(value)) {
        JsonText.appendNumber(line, member.type(), value);
      } else {
        line.append(JsonText.word(value));
      }
      line.append('"');
    }
    line.append("/>");
  }

  private static void attribute(StringBuilder line, String name, String text) {
    line.append(' ').append(name);
    if (text.codePoints().allMatch(XmlLines::isAllowed)) {
      line.append("=\"");
      text.codePoints().forEach(c -> escape(line, c));
    } else {
      line.append("-base64=\"")
          .append(Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8)));
    }
    line.append('"');
  }

  /** The production Char of XML 1.0. */
  private static boolean isAllowed(int c) {
    return c == '\t' || c == '\n' || c == '\r' || c >= 0x20 && c <= 0xd7ff || c >= 0xe000 && c <= 0xfffd
        || c >= 0x10000 && c <= 0x10ffff;
  }

  /** Escapes white space, too, which readers would normalise. */
  private static void escape(StringBuilder line, int c) {
    switch (c) {
      case '<' -> line.append("&lt;");
      case '>' -> line.append("&gt;");
      case '&' -> line.append("&amp;");
      case '"' -> line.append("&quot;");
      default -> {
        if (Terminal.isHarmful(c)) {
          line.append("&#").append(c).append(';');
        } else {
          line.appendCodePoint(c);
        }
      }
    }
  }
}
