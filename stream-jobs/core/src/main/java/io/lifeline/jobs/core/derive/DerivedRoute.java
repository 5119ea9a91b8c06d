package io.lifeline.jobs.core.derive;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The books of what was derived from one route of one emitter: they go on where they were after a restart. */
final class DerivedRoute {

  /** Names the derived route; it follows from the stream's name and the parent, so it is the same after a restart. */
  final Incarnation incarnation;

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

  /** When the broker took the newest parent, and the parent that was derived from last. */
  long lastMs;

  long sentMs;

  private DerivedRoute(Incarnation incarnation) {
    this.incarnation = incarnation;
  }

  static DerivedRoute of(String stream, RouteKey parent) {
    return new DerivedRoute(incarnation(stream, parent.incarnation()));
  }

  private static Incarnation incarnation(String stream, Incarnation parent) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(ByteBuffer.allocate(16).putLong(parent.high()).putLong(parent.low()).flip());
      ByteBuffer hash = ByteBuffer.wrap(digest.digest(stream.getBytes(StandardCharsets.UTF_8)));
      return new Incarnation(hash.getLong(), hash.getLong());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  byte[] encode() {
    return new StateWriter()
        .version(1)
        .varint(sequence)
        .varint(eventsInSinceSent)
        .varint(leftOut)
        .varint(eventsOut)
        .varint(oversize)
        .varint(lastFlags)
        .varint(lastMs)
        .varint(sentMs)
        .toBytes();
  }

  static DerivedRoute decode(String stream, RouteKey parent, byte[] bytes) {
    StateReader in = new StateReader(bytes).version(1);
    DerivedRoute route = of(stream, parent);
    route.sequence = in.varint();
    route.eventsInSinceSent = in.varint();
    route.leftOut = in.varint();
    route.eventsOut = in.varint();
    route.oversize = in.varint();
    route.lastFlags = (int) in.varint();
    route.lastMs = in.varint();
    route.sentMs = in.varint();
    return route;
  }
}
