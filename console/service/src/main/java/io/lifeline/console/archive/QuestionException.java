package io.lifeline.console.archive;

/** A question that is not answered, with the status of HTTP that says why. */
public final class QuestionException extends Exception {
  private static final long serialVersionUID = 1;

  private final int status;

  public QuestionException(int status, String message) {
    super(message);
    this.status = status;
  }

  public int status() {
    return status;
  }
}
