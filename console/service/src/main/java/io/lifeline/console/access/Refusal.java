package io.lifeline.console.access;

/** A refused request: the cause and its HTTP status. */
public final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;
  private final long waitSeconds;

  /**
   * @param status of HTTP
   * @param detail the thing, the cause and the remedy
   */
  public Refusal(int status, String detail) {
    this(status, detail, 0);
  }

  /** @param waitSeconds after which the caller may try again; 0 if that does not matter */
  Refusal(int status, String detail, long waitSeconds) {
    super(detail, null, false, false);
    this.status = status;
    this.waitSeconds = waitSeconds;
  }

  public long waitSeconds() {
    return waitSeconds;
  }

  public int status() {
    return status;
  }
}
