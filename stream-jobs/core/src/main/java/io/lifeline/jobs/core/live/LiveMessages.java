package io.lifeline.jobs.core.live;

import java.time.Duration;

/**
 * The messages of a topic as they arrive, unchecked. Waits for a broker that is away, and goes on where it was when the
 * broker is back. Used by one thread, except where stated.
 */
public interface LiveMessages extends AutoCloseable {

  /**
   * A message.
   *
   * @param brokerTimeMs when the broker stored it, since 1970
   * @param behind how many messages are waiting; -1 if unknown
   */
  record Message(byte[] data, long brokerTimeMs, long behind) {}

  /** Returns the next message, or null on timeout; then {@link #trouble} says whether that has a reason. */
  Message next(Duration timeout) throws InterruptedException;

  /** Returns why nothing can be read at the moment; null if all is well. Any thread may ask. */
  String trouble();

  /** Returns whether all that was stored when reading began was read; false while that cannot be found out. */
  boolean isCaughtUp();

  @Override
  void close();
}
