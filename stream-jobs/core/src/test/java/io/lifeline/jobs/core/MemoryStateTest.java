package io.lifeline.jobs.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.cases.Cases;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class MemoryStateTest {

  /** After any puts and deletions, the changes since each point turn a copy from then into the state. */
  @Test
  void changesAppliedInOrderGiveTheState() {
    Cases.each(1000, any -> {
      MemoryState state = new MemoryState();
      MemoryState copy = new MemoryState();
      for (int action : any.list(0, 60, () -> any.between(0, 99))) {
        String key = "key/" + action % 10;
        if (action < 60) {
          state.put(key, new byte[] {(byte) action});
        } else if (action < 80) {
          state.delete(key);
        } else if (action < 83) {
          state.deleteSome("key/", 1);
        } else {
          store(state, copy);
          assertThat(values(copy)).isEqualTo(values(state));
        }
      }
      store(state, copy);
      assertThat(values(copy)).isEqualTo(values(state));
    });
  }

  @Test
  void nothingChangedIsTwoCounts() {
    MemoryState state = new MemoryState();
    state.put("key", new byte[100]);
    state.markStored();
    state.delete("unknown");
    assertThat(changes(state)).hasSize(2);
  }

  private static void store(MemoryState state, MemoryState copy) {
    copy.apply(new StateReader(changes(state)));
    state.markStored();
  }

  private static byte[] changes(MemoryState state) {
    StateWriter out = new StateWriter();
    state.encodeChanges(out);
    return out.toBytes();
  }

  private static Map<String, String> values(MemoryState state) {
    Map<String, String> values = new TreeMap<>();
    state.scan("", (key, value) -> values.put(key, StateFile.hex(value)));
    return values;
  }
}
