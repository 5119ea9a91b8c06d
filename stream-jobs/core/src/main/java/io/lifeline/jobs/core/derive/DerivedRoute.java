package io.lifeline.jobs.core.derive;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Counters of the route derived from one route of one emitter; they continue after a restart. */
final class DerivedRoute {

  /**
   * Incarnation of the derived route. It is a function of the stream's name, its recipe, the parent and the first batch
   * of it, so it is the same after a restart. A job that starts over and no longer finds that batch, or has forgotten
   * the parent meanwhile, numbers other contents: under the same name, readers would reject them.
   */
  final Incarnation incarnation;

  /** Sequence of the parent's first batch. */
  private final long first;

  /** Number of changes of the recipe, so that returning to an old recipe does not reuse its incarnation. */
  private final long changes;

  /** Sequence of the newest batch sent; 0 before the first. */
  long sequence;

  /** Events of the parents since the newest batch was sent. */
  long eventsInSinceSent;

  /** Events of all parents that were left out. */
  long leftOut;

  /** Events derived until now. */
  long eventsOut;

  /** Of those, events dropped because no batch could hold them. */
  long oversize;

  /** The flags FINAL and RECOVERED once a parent has had them; later batches are replayed from a spool. */
  int lastFlags;

  /** When the last parent arrived, by a {@link io.lifeline.jobs.core.RetentionClock}; 0 if not yet known. */
  long heardMs;

  /** Broker time of the last parent for which a batch was sent; before that, of the first parent. */
  long sentMs;

  private DerivedRoute(Incarnation incarnation, long first, long changes) {
    this.incarnation = incarnation;
    this.first = first;
    this.changes = changes;
  }

  /** @param first sequence of the parent's first batch */
  static DerivedRoute of(String stream, String recipe, RouteKey parent, long first) {
    return new DerivedRoute(incarnation(stream, recipe, first, 0, parent.incarnation()), first, 0);
  }

  private static Incarnation incarnation(
      String stream, String recipe, long first, long changes, Incarnation parent) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(
          ByteBuffer.allocate(32).putLong(parent.high()).putLong(parent.low()).putLong(first).putLong(changes).flip());
      digest.update(new StateWriter().text(stream).text(recipe).toBytes());
      ByteBuffer hash = ByteBuffer.wrap(digest.digest());
      return new Incarnation(hash.getLong(), hash.getLong());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  byte[] encode() {
    return new StateWriter()
        .version(3)
        .fixed64(incarnation.high())
        .fixed64(incarnation.low())
        .fixed64(first)
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
   * Returns the route to continue with. If the recipe has changed, this is a new incarnation with new counters, since
   * the same sequences could otherwise have two contents: the job may have died before it saved what it sent.
   */
  static DerivedRoute decode(String stream, String recipe, RouteKey parent, byte[] bytes) {
    StateReader in = new StateReader(bytes).version(3);
    DerivedRoute route =
        new DerivedRoute(new Incarnation(in.fixed64(), in.fixed64()), in.fixed64(), in.varint());
    route.sequence = in.varint();
    route.eventsInSinceSent = in.varint();
    route.leftOut = in.varint();
    route.eventsOut = in.varint();
    route.oversize = in.varint();
    route.lastFlags = (int) in.varint();
    route.heardMs = in.varint();
    route.sentMs = in.varint();
    boolean isSame =
        route.incarnation.equals(incarnation(stream, recipe, route.first, route.changes, parent.incarnation()));
    return isSame ? route
        : route.anew(incarnation(stream, recipe, route.first, route.changes + 1, parent.incarnation()));
  }

  private DerivedRoute anew(Incarnation name) {
    DerivedRoute route = new DerivedRoute(name, first, changes + 1);
    route.lastFlags = lastFlags;
    route.heardMs = heardMs;
    route.sentMs = sentMs;
    return route;
  }
}
