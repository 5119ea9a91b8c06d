package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveWriteException;
import io.lifeline.jobs.archive.TimeSpan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** Data files before publication: complete, but with temporary names and not yet in a manifest. */
final class DataFiles {
  /** DuckDB errors caused by the query rather than the disk. */
  private static final Pattern FAULT = Pattern.compile(
      "^(Parser|Binder|Catalog|Syntax|Conversion|Invalid Input|Not implemented|INTERNAL) Error");

  private final ArchiveDirectory directory;
  private final DuckTables duck;
  private final String prefix;
  private final List<Manifest.FileEntry> entries = new ArrayList<>();

  /** @param prefix unique prefix of the file names */
  DataFiles(ArchiveDirectory directory, DuckTables duck, String prefix) {
    this.directory = directory;
    this.duck = duck;
    this.prefix = prefix;
  }

  /**
   * Writes the result of a query, which must have the expected number of rows.
   *
   * @param receivedMs when the broker stored the newest message that the rows come from
   */
  void write(Manifest.Kind kind, List<String> types, String query, long expectedRows, long receivedMs)
      throws IOException {
    String name = String.format(Locale.ROOT, "%s-%05d.parquet", prefix, entries.size());
    Path temporary = temporary(name);
    entries.add(new Manifest.FileEntry(name, kind, types, expectedRows, 0, null, null, receivedMs));
    long rows;
    TimeSpan times;
    try {
      rows = duck.copy(query, temporary);
      times = kind == Manifest.Kind.BATCHES ? null : duck.times(temporary);
    } catch (SQLException e) {
      if (FAULT.matcher(firstLine(e)).find()) {
        throw new ArchiveException("DuckDB rejects the data for " + temporary + ": " + firstLine(e)
            + ". Nothing was published; this is a bug, and not caused by a full disk", e);
      }
      throw new ArchiveWriteException("cannot write " + temporary + ": " + firstLine(e)
          + ". Nothing was published: free space or repair the disk; the same batches will be read again", e);
    }
    if (rows != expectedRows) {
      throw new ArchiveException("DuckDB wrote " + rows + " rows into " + temporary + " where " + expectedRows
          + " are correct. Nothing was published; this is a bug, or a fault of the disk");
    }
    entries.set(entries.size() - 1, new Manifest.FileEntry(name, kind, types, rows, Files.size(temporary),
        FileHash.of(temporary), times, receivedMs));
  }

  List<Manifest.FileEntry> entries() {
    return List.copyOf(entries);
  }

  /** Deletes all the files. */
  void remove() throws IOException {
    for (Manifest.FileEntry file : entries) {
      Files.deleteIfExists(temporary(file.name()));
    }
  }

  private Path temporary(String name) {
    return directory.data().resolve(name + ArchiveDirectory.TEMPORARY);
  }

  static String firstLine(SQLException e) {
    return String.valueOf(e.getMessage()).lines().findFirst().orElse("unknown error");
  }
}
