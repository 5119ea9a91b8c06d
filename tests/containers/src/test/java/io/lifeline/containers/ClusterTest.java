package io.lifeline.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Three servers, of which one after the other dies while an emitter works: each has been leader, copy, and first contact. */
@Tag("system")
class ClusterTest {

  @Test
  void losesAndRepeatsNothingInTheArchiveWhenNodesOfNatsDieUnderLoad() {
    losesAndRepeatsNothingInTheArchiveWhenNodesDieUnderLoad("nats");
  }

  @Test
  void losesAndRepeatsNothingInTheArchiveWhenNodesOfKafkaDieUnderLoad() {
    losesAndRepeatsNothingInTheArchiveWhenNodesDieUnderLoad("kafka");
  }

  private static void losesAndRepeatsNothingInTheArchiveWhenNodesDieUnderLoad(String kind) {
    try (Stack stack = Stack.up(kind + ".yaml", Stack.addition(kind + "-archive.yaml"))) {
      Serials.Shell shell = command -> stack.exec("jobs", command);
      Process emitter = stack.start("emitter");
      for (int node = 1; node <= 3; node++) {
        String name = kind + "-" + node;
        Serials.awaitProgress(shell);
        assertThat(emitter.isAlive()).as("the emitter works when node %s dies", node).isTrue();
        stack.kill(name);
        Serials.awaitProgress(shell); // of the two that are left
        stack.startAgain(name);
      }
      assertThat(emitter.isAlive()).as("the emitter runs until it is stopped").isTrue();
      stack.end("emitter");
      long emitted = Serials.emitted(Command.finish(emitter, List.of("serial-emitter")));
      Serials.assertArchivedOnce(shell, 1, emitted);
    }
  }
}
