package io.lifeline.jobs.archive.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveUnavailableException;
import io.lifeline.jobs.archive.ArchiveWriteException;
import java.io.IOException;
import java.sql.SQLException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an error of the server means to a host: open the archive again, retry, or stop. */
class DatabaseTest {
  private static final PostgresOptions OPTIONS =
      PostgresOptions.at(PostgresUrl.parse("postgresql://me@localhost/events"));

  private static IOException translated(String state) {
    return Database.translated("cannot write", OPTIONS, new SQLException("only a test", state));
  }

  /** Timeouts of transactions and sessions end the connection. */
  @ParameterizedTest
  @ValueSource(strings = {"08006", "57P01", "57P05", "25006", "25P03", "25P04"})
  void aLostConnectionIsOpenedAgain(String state) {
    assertThat(translated(state)).isExactlyInstanceOf(ArchiveUnavailableException.class);
  }

  /** Of a disk, of memory, locks, passwords, corruption, and what nobody has thought of. */
  @ParameterizedTest
  @ValueSource(strings = {"53100", "53200", "58030", "58P01", "XX001", "XX000", "28P01", "28000", "40001", "40P01",
      "55P03", "57014", "42P01", "25P02", "72000", "ZZ999"})
  void anErrorThatMayPassIsRetried(String state) {
    assertThat(translated(state)).isExactlyInstanceOf(ArchiveWriteException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"22001", "23505", "42601", "42501", "3D000", "0A000", ""})
  void anErrorOfTheStatementOrTheConfigurationStopsTheHost(String state) {
    assertThat(translated(state)).isExactlyInstanceOf(ArchiveException.class);
  }
}
