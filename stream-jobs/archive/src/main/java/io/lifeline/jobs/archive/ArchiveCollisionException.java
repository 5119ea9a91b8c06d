package io.lifeline.jobs.archive;

/** Another writer owns, or has already published, this part of the archive: this writer must stop. */
public final class ArchiveCollisionException extends ArchiveException {
  private static final long serialVersionUID = 1;

  public ArchiveCollisionException(String message) {
    super(message);
  }
}
