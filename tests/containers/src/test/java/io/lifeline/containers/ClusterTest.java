package io.lifeline.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Three servers, of which one after the other dies while an emitter works: each has been leader, copy, and first contact. */
class ClusterTest {

  private static final long AWAY_MS = 2000;

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"nats", "kafka"})
  void losesAndRepeatsNothingInTheArchiveWhenNodesDieUnderLoad(String kind) throws InterruptedException {
    try (Stack stack = Stack.up(kind + ".yaml", Stack.addition(kind + "-archive.yaml"))) {
      Process emitter = stack.start("emitter");
      for (int node = 1; node <= 3; node++) {
        Thread.sleep(AWAY_MS);
        assertThat(emitter.isAlive()).as("the emitter works when node %s dies", node).isTrue();
        stack.killForAWhile(kind + "-" + node, AWAY_MS);
      }
      long emitted = Serials.emitted(Command.finish(emitter, List.of("serial-emitter")));
      UnaryOperator<String> sql =
          query ->
              stack.exec("jobs", "lifeline-jobs", "sql", "--archive", "/var/lib/lifeline/archive", "--csv", query);
      Serials.assertArchivedOnce(sql, 1, emitted);
    }
  }
}
