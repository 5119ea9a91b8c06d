package io.lifeline.jobs.jetstream;

import java.io.IOException;

/** The stream no longer has the last message that was read, or has replaced it. */
final class TruncatedStreamException extends IOException {
  private static final long serialVersionUID = 1;

  private final String what;

  TruncatedStreamException(String what) {
    super(what + ". " + StreamBounds.START_OVER);
    this.what = what;
  }

  /** Returns the message without the remedy. */
  String what() {
    return what;
  }
}
