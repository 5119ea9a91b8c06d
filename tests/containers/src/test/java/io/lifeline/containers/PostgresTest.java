package io.lifeline.containers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The stack of PostgreSQL as compose/ ships it: a password that only files hold, and data that outlives a crash. */
@Tag("system")
class PostgresTest {

  private static final String PASSWORD = "/run/secrets/postgres/password";

  @Test
  void keepsWhatWasCommittedWhenItIsKilledAndTakesNoOtherPassword() {
    try (Stack stack = Stack.up("postgres.yaml")) {
      psql(stack, "CREATE TABLE kept AS SELECT * FROM generate_series(1, 1000) AS number");
      stack.kill("postgres");
      stack.startAgain("postgres");
      assertThat(psql(stack, "SELECT count(*) FROM kept")).as("wrong books: what was committed").isEqualTo("1000");
      String wrong = "PGPASSWORD=wrong psql --host postgres --username lifeline lifeline -c 'SELECT 1' 2>&1 || true";
      assertThat(stack.exec("postgres", "sh", "-c", wrong)).contains("password authentication failed");
    }
  }

  /** By TCP, as other containers come. */
  private static String psql(Stack stack, String statement) {
    String command =
        "PGPASSWORD=$(cat " + PASSWORD + ") psql --quiet --no-align --tuples-only --host postgres --username lifeline "
            + "--command '" + statement + "' lifeline";
    return stack.exec("postgres", "sh", "-c", command).strip();
  }
}
