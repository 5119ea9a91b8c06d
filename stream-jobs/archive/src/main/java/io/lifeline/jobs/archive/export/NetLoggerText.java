package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.ArchivedType;
import io.lifeline.jobs.core.FieldNames;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * Names and values of NetLogger's text formats, BP and ULM, exactly as {@code lifeline-cat} writes them: {@code
 * schemas/vectors/text} holds both to the same text.
 */
public final class NetLoggerText {
  private final Set<String> taken;
  private final Map<ArchivedType, String[]> names = new WeakHashMap<>();

  /** @param taken names that every line uses; a member with such a name, or underscores behind it, gets another one */
  public NetLoggerText(Set<String> taken) {
    this.taken = taken;
  }

  /** Appends {@code " name=value"} for each member. */
  public void appendMembers(StringBuilder out, ArchivedEvent event) {
    List<ArchivedType.Member> members = event.type().members();
    String[] prefixes = names.computeIfAbsent(event.type(), this::prefixes);
    for (int i = 0; i < prefixes.length; i++) {
      Object value = event.values()[i];
      if (value == null) {
        continue;
      }
      out.append(prefixes[i]);
      switch (members.get(i).type()) {
        case STRING -> appendValue(out, (String) value);
        case BYTES -> out.append(value.equals("") ? "\"\"" : value);
        default -> {
          if (JsonText.isFinite(value)) {
            JsonText.appendNumber(out, members.get(i).type(), value);
          } else {
            out.append(JsonText.word(value));
          }
        }
      }
    }
  }

  private String[] prefixes(ArchivedType type) {
    return type.members().stream().map(member -> " " + name(member.name()) + "=").toArray(String[]::new);
  }

  /** Each byte of a character that BP has not in names becomes an underscore. */
  private String name(String name) {
    StringBuilder out = new StringBuilder();
    for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
      boolean legal = b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '.'
          || b == '-';
      out.append(legal ? (char) b : '_');
    }
    return FieldNames.beside(taken, name).equals(name) ? out.toString() : out.append('_').toString();
  }

  /** Appends a value that needs quotes as a JSON string, whose end old readers find, too. */
  public static void appendValue(StringBuilder out, String text) {
    if (!text.isEmpty() && text.chars().allMatch(NetLoggerText::isPlain)) {
      out.append(text);
    } else {
      JsonText.append(out, text);
    }
  }

  private static boolean isPlain(int c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\' && c != '\'';
  }
}
