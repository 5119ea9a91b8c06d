package io.lifeline.jobs.archive.cli;

import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.EventReader;
import io.lifeline.jobs.archive.TimeSpan;
import io.lifeline.jobs.archive.location.ArchiveConnection;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import picocli.CommandLine.Option;

/** Options that select the archive a command reads. */
final class ArchiveOptions extends ArchiveConnection {

  @Option(names = "--archive", required = true, paramLabel = "DIR|URL",
      description = "directory of the archive, or URL of its database: archive.dir or archive.url of the jobs")
  private String archive;

  /** Returns the description of the archive. */
  Archive archive() {
    return archive(archive);
  }

  /** Opens the archive, which must exist. */
  ArchiveReader open() throws IOException, SQLException {
    return open(archive, null);
  }

  /** As {@link #open()}, with views over events that are limited to these times. */
  ArchiveReader open(TimeSpan span) throws IOException, SQLException {
    return open(archive, null, span);
  }

  /** As {@link #openEvents(String, Path, long)}, of the archive that was selected. */
  EventReader openEvents(Path spill, long memoryBytes) throws IOException, SQLException {
    return openEvents(archive, spill, memoryBytes);
  }
}
