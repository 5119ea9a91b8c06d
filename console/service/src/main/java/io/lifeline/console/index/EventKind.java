package io.lifeline.console.index;

/**
 * An event type on the page: all versions of it have one row.
 *
 * @param number its place in the index
 * @param level as FORMAT.md spells it
 * @param start whether its name says that something begins
 * @param end whether its name says that something ends
 * @param failure whether its name or level says that something failed
 */
public record EventKind(int number, String name, String level, boolean start, boolean end, boolean failure) {
  static EventKind of(int number, String name, String level) {
    boolean failure = name.endsWith(".error") || level.equals("error") || level.equals("fatal");
    return new EventKind(number, name, level, name.endsWith(".start"), name.endsWith(".end"), failure);
  }

  /** Returns whether objects wait between this type and the next one, since no stage of a program is in between. */
  public boolean waitsFor(EventKind next) {
    return !start && !next.end && (end || next.start);
  }
}
