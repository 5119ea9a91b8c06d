package io.lifeline.jobs.archive;

/** The buffered data could not be written, for example because the disk is full. Nothing was published: try again. */
public final class ArchiveWriteException extends ArchiveException {
  private static final long serialVersionUID = 1;

  public ArchiveWriteException(String message, Throwable cause) {
    super(message, cause);
  }
}
