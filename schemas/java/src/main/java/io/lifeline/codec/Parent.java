package io.lifeline.codec;

/** The batch that a filter made this one from (FORMAT section 3.5). */
public final class Parent {
  private final Incarnation incarnation;
  private final long sequence;
  private final int route;
  private final long eventsIn;
  private final long eventsOut;

  public Parent(Incarnation incarnation, long sequence, int route, long eventsIn, long eventsOut) {
    this.incarnation = incarnation;
    this.sequence = sequence;
    this.route = route;
    this.eventsIn = eventsIn;
    this.eventsOut = eventsOut;
  }

  public Incarnation incarnation() {
    return incarnation;
  }

  public long sequence() {
    return sequence;
  }

  public int route() {
    return route;
  }

  public long eventsIn() {
    return eventsIn;
  }

  public long eventsOut() {
    return eventsOut;
  }
}
