package io.lifeline.jobs.archive.cli;

import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.EventReader;
import io.lifeline.jobs.archive.postgres.PostgresEvents;
import io.lifeline.jobs.archive.postgres.PostgresOptions;
import io.lifeline.jobs.archive.postgres.PostgresReader;
import io.lifeline.jobs.archive.postgres.PostgresUrl;
import io.lifeline.jobs.archive.sql.ArchiveDatabase;
import io.lifeline.jobs.archive.sql.ParquetEvents;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options that select the archive a command reads. */
final class ArchiveOptions {

  @Option(names = "--archive", required = true, paramLabel = "DIR|URL",
      description = "directory of the archive, or URL of its database: archive.dir or archive.url of the jobs")
  private String archive;

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

  /** Opens the archive, which must exist. */
  ArchiveReader open() throws IOException, SQLException {
    if (!PostgresUrl.isMeantBy(archive)) {
      return ArchiveDatabase.open(Path.of(archive));
    }
    return PostgresReader.open(postgres());
  }

  /**
   * Opens the archive, which must exist, to read all of its events in order.
   *
   * @param spill existing directory for what exceeds the memory
   */
  EventReader openEvents(Path spill, long memoryBytes) throws IOException, SQLException {
    if (!PostgresUrl.isMeantBy(archive)) {
      return ParquetEvents.open(Path.of(archive), spill, memoryBytes);
    }
    return PostgresEvents.open(postgres());
  }

  private PostgresOptions postgres() {
    PostgresUrl url;
    try {
      url = PostgresUrl.parse(archive);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), "--archive: " + e.getMessage(), e);
    }
    return PostgresOptions.at(url).withPasswordFile(passwordFile).withTlsCa(tlsCa).withSchema(schema);
  }
}
