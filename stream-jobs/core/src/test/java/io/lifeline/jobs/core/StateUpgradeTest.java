package io.lifeline.jobs.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Reads the states that earlier releases stored; see {@code src/test/state/README.md}. */
class StateUpgradeTest {

  private static final Path STATES = Path.of("src/test/state");
  private static final Path NEWEST = STATES.resolve("1.txt");

  static Stream<Path> stored() throws IOException {
    try (Stream<Path> files = Files.list(STATES)) {
      return files.filter(file -> file.toString().endsWith(".txt")).sorted().toList().stream();
    }
  }

  @ParameterizedTest
  @MethodSource("stored")
  void continuesWithAStoredStateAsWithItsOwn(Path file) throws IOException {
    StateScenario earlier = new StateScenario(StateFile.state(file));
    StateScenario today = new StateScenario(copy(new StateScenario(new MemoryState()).first().state()));
    assertThat(earlier.second()).isEqualTo(today.second()).isNotEmpty();
    assertThat(earlier.metrics().text())
        .contains("lifeline_batches_total{task=\"task\"} 6\n", "lifeline_duplicates_total{task=\"task\"} 5\n",
            "lifeline_rejected_total{task=\"task\"} 5\n");
  }

  @ParameterizedTest
  @MethodSource("stored")
  void readsAStoredMessageBetweenStages(Path file) throws IOException {
    Map<String, byte[]> messages = StateFile.messages(file);
    assertThat(messages).containsOnlyKeys("partials", "samples", "shares");
    messages.forEach(new StateScenario(new MemoryState())::read);
  }

  /** Old files are never changed: a changed format needs a new version of its values and a new file. */
  @Test
  void writesTheNewestStoredStateByteForByte() throws IOException {
    StateScenario scenario = new StateScenario(new MemoryState()).first();
    String written = StateFile.text(scenario.state(), scenario.messages());
    Path actual = Path.of("target", NEWEST.getFileName().toString());
    Files.writeString(actual, written);
    assertThat(written).as("state of today, also in %s; see %s/README.md", actual, STATES)
        .isEqualTo(Files.exists(NEWEST) ? Files.readString(NEWEST) : "");
  }

  /** Whatever value it is in, a version of a later release is refused and not guessed at. */
  @Test
  void refusesEveryValueOfALaterRelease() throws IOException {
    StateFile.state(NEWEST).scan("", (key, value) -> {
      MemoryState state = new MemoryState();
      byte[] later = value.clone();
      later[0] = 99;
      state.put(key, later);
      if (!RarelyRead.isKey(key)) { // read on demand
        assertThatThrownBy(() -> new StateScenario(state)).as(key)
            .isInstanceOf(StateReader.NewerStateException.class)
            .hasMessageContaining("layout 99");
      }
    });
  }

  private static MemoryState copy(MemoryState state) {
    StateWriter out = new StateWriter();
    state.encode(out);
    return MemoryState.decode(new StateReader(out.toBytes()));
  }
}
