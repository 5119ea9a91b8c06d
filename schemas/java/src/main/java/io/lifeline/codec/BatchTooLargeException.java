package io.lifeline.codec;

/** What should become one batch does not fit into one; two may do. */
public final class BatchTooLargeException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  public BatchTooLargeException(String message) {
    super(message);
  }
}
