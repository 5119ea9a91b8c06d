package io.lifeline.jobs.core;

import io.lifeline.codec.RejectedBatchException;

/**
 * Reason for rejecting a message: a code, a position and a sentence. It never contains the rejected bytes, which are
 * untrusted; they can be read from the broker at the position.
 *
 * @param code a code of FORMAT.md, section 9, or {@code conflict}, {@code unverifiable}, {@code misplaced} or
 *     {@code unsigned}
 * @param offsetInMessage where in the message the error was found
 * @param batch the identity of a well-formed batch, as {@code incarnation-route-sequence}; else null
 */
public record Rejection(Position position, String code, int offsetInMessage, String message, String batch) {

  /** Where a batch has its sequence: FORMAT.md, section 3. */
  private static final int SEQUENCE_OFFSET = 32;

  public static Rejection of(Position position, RejectedBatchException cause) {
    return new Rejection(position, cause.code(), cause.offset(), cause.getMessage(), null);
  }

  /** Rejects a well-formed batch. */
  public static Rejection of(Position position, String code, String message, RouteKey route, long sequence) {
    return new Rejection(position, code, SEQUENCE_OFFSET, message, route + "-" + Long.toUnsignedString(sequence));
  }

  /** Rejects a well-formed batch of another task or writer. */
  public static Rejection misplaced(Position position, String elsewhere, RouteKey route, long sequence) {
    return of(position, "misplaced", "batches of its emitter belong into " + elsewhere, route, sequence);
  }

  public void send(Output output) {
    String id = "rejected:" + position.partition() + ":" + position.offset();
    JsonWriter json =
        new JsonWriter()
            .beginObject()
            .field("code", code)
            .field("message", message)
            .field("partition", position.partition())
            .field("offset", position.offset())
            .field("broker_time_ms", position.brokerTimeMs())
            .field("offset_in_message", offsetInMessage);
    if (batch != null) {
      json.field("batch", batch);
    }
    output.send(Destination.REJECTED, position.partition() + ":" + position.offset(), id, json.endObject().toBytes());
  }
}
