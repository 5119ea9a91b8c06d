package io.lifeline.jobs.archive.parquet;

/** The steps that add files to the archive. The process may crash after any of them. */
enum PublicationStep {
  /** Data files are complete under temporary names. A crash here leaves garbage, which the next start removes. */
  FILES_WRITTEN,
  /** The files and their names are synced to the disk. */
  FILES_SYNCED,
  /** The manifest is synced to the disk under a temporary name. */
  MANIFEST_WRITTEN,
  /** The manifest has its name: all its files belong to the archive, and the next start finishes the renaming. */
  MANIFEST_LINKED,
  /** One data file has its final name. */
  FIRST_FILE_RENAMED,
  /** All data files have their final names. */
  FILES_RENAMED
}
