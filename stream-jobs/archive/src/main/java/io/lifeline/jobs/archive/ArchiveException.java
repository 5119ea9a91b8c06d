package io.lifeline.jobs.archive;

import java.io.IOException;

/** The archive cannot be read or written in its current state. The message names the remedy. */
public class ArchiveException extends IOException {
  private static final long serialVersionUID = 1;

  public ArchiveException(String message) {
    super(message);
  }

  public ArchiveException(String message, Throwable cause) {
    super(message, cause);
  }
}
