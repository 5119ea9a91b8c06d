package io.lifeline.console.index;

/**
 * An event type on the page: all versions of it have one row.
 *
 * @param number its place in the index
 * @param level as FORMAT.md spells it
 * @param start whether its name says that something begins
 * @param failure whether its name or level says that something failed
 */
public record EventKind(int number, String name, String level, boolean start, boolean failure) {
  static EventKind of(int number, String name, String level) {
    boolean failure = name.endsWith(".error") || level.equals("error") || level.equals("fatal");
    return new EventKind(number, name, level, name.endsWith(".start"), failure);
  }
}
