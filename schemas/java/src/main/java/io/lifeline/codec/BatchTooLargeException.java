package io.lifeline.codec;

/** The content does not fit into one batch; it may fit into two. */
public final class BatchTooLargeException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  public BatchTooLargeException(String message) {
    super(message);
  }
}
