package io.lifeline.jobs.archive.sql;

import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.TimeSpan;
import io.lifeline.jobs.archive.parquet.ArchiveDirectory;
import io.lifeline.jobs.archive.parquet.Manifest;
import io.lifeline.jobs.archive.parquet.Manifests;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * The files of one event type, for programs that read Parquet themselves. The manifests are needed to find them: a
 * compaction leaves replaced files for a while, so reading all of {@code data/} counts events twice.
 *
 * @param own files with events of only this type, with fields as columns, which differ between versions of the type
 * @param shared files with rare events of several types: the type's name in column {@code name}, the fields as JSON in
 *     {@code fields}
 * @param sql DuckDB query of all of them, with the columns of the type's view
 */
public record TypeFiles(List<String> own, List<String> shared, String sql) {

  /**
   * Finds the files in an archive; fails if the archive or the type does not exist.
   *
   * @param span only files that may have events of this time; {@code sql} has only those events
   */
  public static TypeFiles of(Path root, String type, TimeSpan span) throws IOException {
    ArchiveDirectory directory = new ArchiveDirectory(root.toAbsolutePath().normalize());
    List<Manifest> manifests = List.copyOf(Manifests.readExisting(directory).values());
    TypeFiles files = new EventViews(manifests, directory.locate(manifests), span).filesOf(Sql.clean(type));
    if (files == null) {
      throw new ArchiveException("the archive " + root + " has no event type '" + type
          + "': lifeline-jobs sql --archive DIR 'SELECT DISTINCT type FROM events' names them");
    }
    return files;
  }
}
