package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.cases.Cases;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.jetstream.CheckpointHead.Part;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** If one of these bytes changes, releases cannot read each other's checkpoints: it needs a new version. */
class CheckpointFormatTest {

  private static final String OUTBOX = "01 077375626a656374 036b6579 026964 0101";

  @Test
  void aCheckpointHasItsVersionPositionStateAndOutbox() {
    MemoryState state = new MemoryState();
    state.put("a", new byte[] {1});
    state.put("b", new byte[] {2});
    state.markStored();
    state.put("c", new byte[] {3});
    state.delete("a");
    Checkpoint checkpoint =
        new Checkpoint(
            Instant.ofEpochSecond(1, 2), 5, 6, state,
            List.of(new OutgoingMessage("subject", "key", "id", new byte[] {1})));
    assertThat(checkpoint.encode()).isEqualTo(bytes("04 01 02 05 06  02 0162 0102 0163 0103  00" + OUTBOX));
    assertThat(checkpoint.encodeChanges()).isEqualTo(bytes("04 01 02 05 06  01 0163 0103  01 0161" + OUTBOX));
  }

  @Test
  void itsHeadHasTheEpochThePartsAndTheChanges() throws Exception {
    byte[] head = bytes("02 03  01 03332d31 02 01020304 ac02  ba37b786 01 07");
    CheckpointHead decoded = CheckpointHead.decode(head);
    assertThat(decoded.epoch()).isEqualTo(3);
    assertThat(decoded.parts()).containsExactly(new Part("3-1", 2, 0x04030201, 300));
    assertThat(decoded.changes()).containsExactly(7);
    assertThat(decoded.encode()).isEqualTo(head);
  }

  @Test
  void damageIsReported() {
    MemoryState state = new MemoryState();
    state.put("a", new byte[] {1, 2, 3});
    byte[] sound = new Checkpoint(Instant.ofEpochSecond(1, 2), 5, 6, state,
        List.of(new OutgoingMessage("subject", "key", "id", new byte[] {1}))).encode();
    Cases.each(2000, any -> {
      byte[] bytes = Arrays.copyOf(sound, any.between(0, sound.length + 2));
      for (int left = any.between(0, 3); left > 0 && bytes.length > 0; left--) {
        bytes[any.between(0, bytes.length - 1)] = (byte) any.between(0, 255);
      }
      try {
        Checkpoint.decode(bytes, new MemoryState());
        CheckpointHead.decode(bytes);
      } catch (StateReader.CorruptStateException | CheckpointHead.DamagedException e) {
        assertThat(e).isNotNull();
      }
    });
  }

  private static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex.replace(" ", ""));
  }
}
