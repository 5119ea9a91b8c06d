package io.lifeline.console.access;

import java.util.regex.Pattern;

/** Names of tokens and people: what they may contain, and how a text that may be anything is shown. */
final class Names {
  /** No character that has a meaning in a path, a shell or a terminal; a colon marks the names of other callers. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._@-]{0,63}");
  private static final int LONGEST_PERSON = 100;
  private static final int LONGEST_SHOWN = 80;

  private Names() {}

  static String token(String name) {
    if (name == null || !NAME.matcher(name).matches() || name.equals(Access.LOCAL)) {
      throw new Refusal(400, "the name '" + printable(name) + "' of a token must be 1 to 64 letters, digits or ._@-,"
          + " begin with a letter or digit, and not be " + Access.LOCAL);
    }
    return name;
  }

  static String person(String name) {
    if (name.isBlank() || name.length() > LONGEST_PERSON || !name.equals(cleaned(name))) {
      throw new Refusal(400, "onBehalfOf must be 1 to " + LONGEST_PERSON + " printable characters");
    }
    return name;
  }

  /** Shortens a text and replaces what a terminal would not print as one character. */
  static String printable(String text) {
    String clean = cleaned(String.valueOf(text));
    return clean.length() <= LONGEST_SHOWN ? clean : clean.substring(0, LONGEST_SHOWN) + "...";
  }

  private static String cleaned(String text) {
    StringBuilder clean = new StringBuilder();
    text.codePoints().forEach(c -> {
      int type = Character.getType(c);
      boolean plain = type != Character.CONTROL && type != Character.FORMAT && type != Character.SURROGATE
          && type != Character.LINE_SEPARATOR && type != Character.PARAGRAPH_SEPARATOR && type != Character.UNASSIGNED
          && type != Character.PRIVATE_USE;
      clean.appendCodePoint(plain ? c : '?');
    });
    return clean.toString();
  }
}
