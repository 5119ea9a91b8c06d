package io.lifeline.codec;

/**
 * A batch breaks the format. Names one of the codes of FORMAT section 9, the offset at which it was seen, and a
 * sentence. It never carries bytes of the batch, so it may be logged.
 */
public final class RejectedBatchException extends Exception {
  private final String code;
  private final int offset;

  public RejectedBatchException(String code, int offset, String message) {
    super(message);
    this.code = code;
    this.offset = offset;
  }

  /** Returns the code, such as {@code bad_crc}. */
  public String code() {
    return code;
  }

  /** Returns the offset in bytes from the start of the batch; within the events, as if the batch were uncompressed. */
  public int offset() {
    return offset;
  }

  @Override
  public String toString() {
    return code + " at " + offset + ": " + getMessage();
  }
}
