package io.lifeline.jobs.archive;

import java.io.IOException;

/**
 * The archive's server cannot be reached, or the connection to it broke. What was appended but not stored is lost to
 * this writer: abandon it, open another when the server is back, and read again from where the archive ends.
 */
public final class ArchiveUnavailableException extends IOException {
  private static final long serialVersionUID = 1;

  public ArchiveUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
