package io.lifeline.jobs.live;

/** An activation could not be read, set or ended; the message is one sentence for a person. */
public final class ActivationException extends Exception {
  private static final long serialVersionUID = 1;

  private final boolean illegal;

  /** @param illegal whether it was asked for wrongly; else the broker failed */
  ActivationException(boolean illegal, String message) {
    super(message);
    this.illegal = illegal;
  }

  public boolean isIllegal() {
    return illegal;
  }
}
