package io.lifeline.jobs.core.derive;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The books of what was derived from one route of one emitter: they go on where they were after a restart. */
final class DerivedRoute {

  /**
   * Names the derived route; it follows from the stream's name, its recipe and the parent, so it is the same after a
   * restart.
   */
  final Incarnation incarnation;

  /** How often the recipe was another one, so that one which comes back does not name the route of then. */
  private final long changes;

  /** Of the newest batch that was sent; 0 before the first. */
  long sequence;

  /** Events of the parents since the newest batch was sent, and those of all parents that were left out. */
  long eventsInSinceSent;

  long leftOut;

  /** Events derived so far, and of those, such as found no room in a batch of their own. */
  long eventsOut;

  long oversize;

  /** The flags FINAL and RECOVERED, once a parent had them: what comes later is a repeat from a spool. */
  int lastFlags;

  /** When a parent was last known to have come, by a {@link io.lifeline.jobs.core.RetentionClock}; 0 before. */
  long heardMs;

  /** When the broker took the parent that was derived from last. */
  long sentMs;

  private DerivedRoute(Incarnation incarnation, long changes) {
    this.incarnation = incarnation;
    this.changes = changes;
  }

  static DerivedRoute of(String stream, String recipe, RouteKey parent) {
    return new DerivedRoute(incarnation(stream, recipe, 0, parent.incarnation()), 0);
  }

  private static Incarnation incarnation(String stream, String recipe, long changes, Incarnation parent) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(ByteBuffer.allocate(24).putLong(parent.high()).putLong(parent.low()).putLong(changes).flip());
      digest.update(new StateWriter().text(stream).text(recipe).toBytes());
      ByteBuffer hash = ByteBuffer.wrap(digest.digest());
      return new Incarnation(hash.getLong(), hash.getLong());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  byte[] encode() {
    return new StateWriter()
        .version(2)
        .fixed64(incarnation.high())
        .fixed64(incarnation.low())
        .varint(changes)
        .varint(sequence)
        .varint(eventsInSinceSent)
        .varint(leftOut)
        .varint(eventsOut)
        .varint(oversize)
        .varint(lastFlags)
        .varint(heardMs)
        .varint(sentMs)
        .toBytes();
  }

  /**
   * The route that goes on from here. Under another recipe that is one with new books: the same sequences would have
   * other contents from now on, or already have, if the job died before it saved what it sent.
   */
  static DerivedRoute decode(String stream, String recipe, RouteKey parent, byte[] bytes) {
    StateReader in = new StateReader(bytes).version(2);
    DerivedRoute route = new DerivedRoute(new Incarnation(in.fixed64(), in.fixed64()), in.varint());
    route.sequence = in.varint();
    route.eventsInSinceSent = in.varint();
    route.leftOut = in.varint();
    route.eventsOut = in.varint();
    route.oversize = in.varint();
    route.lastFlags = (int) in.varint();
    route.heardMs = in.varint();
    route.sentMs = in.varint();
    boolean isSame = route.incarnation.equals(incarnation(stream, recipe, route.changes, parent.incarnation()));
    return isSame ? route : route.anew(incarnation(stream, recipe, route.changes + 1, parent.incarnation()));
  }

  private DerivedRoute anew(Incarnation name) {
    DerivedRoute route = new DerivedRoute(name, changes + 1);
    route.lastFlags = lastFlags;
    route.heardMs = heardMs;
    route.sentMs = sentMs;
    return route;
  }
}
