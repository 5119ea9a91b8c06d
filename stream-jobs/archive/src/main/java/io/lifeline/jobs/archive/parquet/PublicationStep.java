package io.lifeline.jobs.archive.parquet;

/** The steps by which files become part of the archive. A process may die after any of them. */
enum PublicationStep {
  /** Data files are complete under temporary names. Death here leaves garbage, which the next start removes. */
  FILES_WRITTEN,
  /** They are on the disk, and so are their names. */
  FILES_SYNCED,
  /** The manifest is on the disk under a temporary name. */
  MANIFEST_WRITTEN,
  /** The manifest has its name: all of it is in the archive, and the next start finishes the renaming. */
  MANIFEST_LINKED,
  /** One data file has its own name. */
  FIRST_FILE_RENAMED,
  /** All have. */
  FILES_RENAMED
}
