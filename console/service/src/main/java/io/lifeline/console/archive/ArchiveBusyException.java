package io.lifeline.console.archive;

import java.io.IOException;

/** Others read the archive. */
public final class ArchiveBusyException extends IOException {
  private static final long serialVersionUID = 1;

  ArchiveBusyException(String message) {
    super(message);
  }
}
