package io.lifeline.jobs.archive;

/** Nothing has been published into the archive yet: jobs that have just started will do so. */
public final class EmptyArchiveException extends ArchiveException {
  private static final long serialVersionUID = 1;

  public EmptyArchiveException(String message) {
    super(message);
  }
}
