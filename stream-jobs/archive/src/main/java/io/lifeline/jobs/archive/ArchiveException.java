package io.lifeline.jobs.archive;

import java.io.IOException;

/** The archive cannot be read or written as it stands. The message says what to do. */
public class ArchiveException extends IOException {
  private static final long serialVersionUID = 1;

  public ArchiveException(String message) {
    super(message);
  }

  public ArchiveException(String message, Throwable cause) {
    super(message, cause);
  }
}
