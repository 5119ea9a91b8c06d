package io.lifeline.console.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditTest {
  private static final Identity ANN = new Identity("ann", Role.ACTIVATE, "Ann \u202eLee", "192.0.2.1", Limits.NONE);

  @TempDir Path directory;

  @Test
  void eachActionIsALineOfJsonWhateverItsDetailsHold() throws Exception {
    Path file = directory.resolve("audit.log");
    Audit audit = Audit.of(file, Clock.systemUTC());
    audit.record(ANN, "activate", Map.of("line", "a\nb\u001b[2J<script>\u2028"), Audit.BEGUN);
    audit.record(ANN, "activate", Map.of(), Audit.DONE);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
    List<String> lines = Files.readAllLines(file);
    assertThat(lines).hasSize(2).allMatch(line -> line.chars().allMatch(c -> c >= ' ' && c < 0x7f));
    JsonNode line = new ObjectMapper().readTree(lines.get(0));
    assertThat(line.get("who").asText()).isEqualTo("ann");
    assertThat(line.get("role").asText()).isEqualTo("activate");
    assertThat(line.get("onBehalfOf").asText()).isEqualTo(ANN.onBehalfOf());
    assertThat(line.get("from").asText()).isEqualTo("192.0.2.1");
    assertThat(line.get("action").asText()).isEqualTo("activate");
    assertThat(line.get("details").get("line").asText()).isEqualTo("a\nb\u001b[2J<script>\u2028");
    assertThat(line.get("outcome").asText()).isEqualTo("begun");
    assertThat(line.get("time").asText()).matches("20[0-9-]+T[0-9:.]+Z");
  }

  @Test
  void whatIsThereStaysAndABrokenLineSpoilsNoOther() throws Exception {
    Path file = Files.writeString(directory.resolve("audit.log"), "{\"time\":\"20");
    Audit audit = Audit.of(file, Clock.systemUTC());
    audit.record(ANN, "a", Map.of(), Audit.DONE);
    Files.move(file, directory.resolve("audit.log.1"));
    audit.record(ANN, "b", Map.of(), Audit.DONE);
    assertThat(Files.readAllLines(directory.resolve("audit.log.1"))).hasSize(2).first().isEqualTo("{\"time\":\"20");
    assertThat(Files.readAllLines(file)).singleElement().asString().contains("\"action\":\"b\"");
  }

  @Test
  void aLineIsBounded() throws Exception {
    Path file = directory.resolve("audit.log");
    Audit.of(file, Clock.systemUTC()).record(ANN, "a", Map.of("name", "\u202e".repeat(100_000)), Audit.DONE);
    assertThat(Files.size(file)).isLessThan(40_000);
    assertThat(new ObjectMapper().readTree(file.toFile()).get("details").get("truncated").asText())
        .startsWith("{\"name\":\"\\u202E");
  }

  @Test
  void whatCannotBeRecordedIsRefused() throws Exception {
    Audit full = Audit.of(Path.of("/dev/full"), Clock.systemUTC());
    assertThatThrownBy(() -> full.record(ANN, "a", Map.of(), Audit.BEGUN))
        .isInstanceOfSatisfying(Refusal.class, e -> assertThat(e.status()).isEqualTo(503))
        .hasMessageStartingWith("the audit log /dev/full cannot be written: No space left on device");
    assertThatThrownBy(() -> Audit.of(directory, Clock.systemUTC())).isInstanceOf(IOException.class);
    Audit.none().record(ANN, "a", Map.of(), Audit.DONE);
  }
}
