package io.lifeline.jobs.archive.sql;

import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.TimeSpan;
import io.lifeline.jobs.archive.postgres.PostgresOptions;
import io.lifeline.jobs.archive.postgres.PostgresReader;
import io.lifeline.jobs.archive.postgres.PostgresUrl;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;

/**
 * Where an archive is, and how it is reached; in a form that another process can be given.
 *
 * @param place directory, or URL of a database
 * @param passwordFile null for none
 * @param tlsCa null for none
 * @param schema of a database
 */
public record ArchiveLocation(String place, String passwordFile, String tlsCa, String schema) {

  public boolean hasDatabase() {
    return PostgresUrl.isMeantBy(place);
  }

  /** @throws IllegalArgumentException if the URL is not valid */
  public PostgresOptions postgres() {
    return PostgresOptions.at(PostgresUrl.parse(place)).withPasswordFile(path(passwordFile)).withTlsCa(path(tlsCa))
        .withSchema(schema);
  }

  /**
   * Opens the archive for queries of strangers: a database is asked as a role that can only read.
   *
   * @param memoryBytes what queries may use in this process; null for no limit
   * @param limitMs after which a database ends a query; 0 for no limit
   */
  public ArchiveReader openForStrangers(Long memoryBytes, long limitMs) throws IOException, SQLException {
    return hasDatabase() ? PostgresReader.openForStrangers(postgres(), limitMs)
        : ArchiveDatabase.open(Path.of(place), memoryBytes, TimeSpan.ALL);
  }

  private static Path path(String text) {
    return text == null ? null : Path.of(text);
  }
}
