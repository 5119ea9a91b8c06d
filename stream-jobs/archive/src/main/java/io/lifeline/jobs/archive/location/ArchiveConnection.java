package io.lifeline.jobs.archive.location;

import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.EventReader;
import io.lifeline.jobs.archive.TimeSpan;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.archive.postgres.PostgresArchive;
import io.lifeline.jobs.archive.postgres.PostgresEvents;
import io.lifeline.jobs.archive.postgres.PostgresOptions;
import io.lifeline.jobs.archive.postgres.PostgresReader;
import io.lifeline.jobs.archive.postgres.PostgresUrl;
import io.lifeline.jobs.archive.sql.ArchiveDatabase;
import io.lifeline.jobs.archive.sql.ArchiveLocation;
import io.lifeline.jobs.archive.sql.ParquetEvents;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options that say how to connect to an archive, wherever its location comes from. */
public class ArchiveConnection {

  @Option(names = "--password-file", paramLabel = "FILE",
      description = "file whose first line is the database password (default: ~/.pgpass)")
  private Path passwordFile;

  @Option(names = "--tls-ca", paramLabel = "FILE",
      description = "PEM file of the CA certificates for the database server; enables TLS")
  private Path tlsCa;

  @Option(names = "--schema", paramLabel = "NAME", defaultValue = PostgresOptions.DEFAULT_SCHEMA,
      description = "the archive's schema in its database (default: ${DEFAULT-VALUE})")
  private String schema;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /**
   * Opens an existing archive.
   *
   * @param location directory, or URL of a database
   * @param memoryBytes what queries may use in this process; null for no limit
   */
  public ArchiveReader open(String location, Long memoryBytes) throws IOException, SQLException {
    return open(location, memoryBytes, TimeSpan.ALL);
  }

  /** Returns where the archive is, for another process. */
  public ArchiveLocation location(String location) {
    ArchiveLocation found = new ArchiveLocation(location, text(passwordFile), text(tlsCa), schema);
    if (found.hasDatabase()) {
      postgres(location);
    }
    return found;
  }

  private static String text(Path path) {
    return path == null ? null : path.toAbsolutePath().toString();
  }

  /** @param span times that the views over events are limited to */
  public ArchiveReader open(String location, Long memoryBytes, TimeSpan span) throws IOException, SQLException {
    if (!PostgresUrl.isMeantBy(location)) {
      return ArchiveDatabase.open(Path.of(location), memoryBytes, span);
    }
    if (!span.equals(TimeSpan.ALL)) {
      throw new ParameterException(command.commandLine(), "--from and --to are for Parquet archives: PostgreSQL skips"
          + " other times by itself if the query has a condition on ts");
    }
    return PostgresReader.open(postgres(location));
  }

  /**
   * Opens an existing archive to read all of its events in order.
   *
   * @param spill existing directory for what exceeds the memory
   */
  public EventReader openEvents(String location, Path spill, long memoryBytes) throws IOException, SQLException {
    if (!PostgresUrl.isMeantBy(location)) {
      return ParquetEvents.open(Path.of(location), spill, memoryBytes);
    }
    return PostgresEvents.open(postgres(location));
  }

  /** Returns the description of an archive. */
  public Archive archive(String location) {
    return PostgresUrl.isMeantBy(location)
        ? new PostgresArchive(postgres(location))
        : new ParquetArchive(ParquetOptions.in(Path.of(location)));
  }

  private PostgresOptions postgres(String location) {
    try {
      return new ArchiveLocation(location, text(passwordFile), text(tlsCa), schema).postgres();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), "the archive's location: " + e.getMessage(), e);
    }
  }
}
