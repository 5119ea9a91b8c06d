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

  /** Such as {@code bad_crc}. */
  public String code() {
    return code;
  }

  /** In bytes from the start of the batch; within the events, from the start of the batch as if uncompressed. */
  public int offset() {
    return offset;
  }

  @Override
  public String toString() {
    return code + " at " + offset + ": " + getMessage();
  }
}
