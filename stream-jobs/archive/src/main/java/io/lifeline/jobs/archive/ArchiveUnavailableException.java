package io.lifeline.jobs.archive;

import java.io.IOException;

/**
 * The archive's server is unreachable, or the connection was lost. This writer has lost data that was appended but not
 * stored: abandon it, open another when the server is back, and resume reading from the archive's end.
 */
public final class ArchiveUnavailableException extends IOException {
  private static final long serialVersionUID = 1;

  public ArchiveUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
