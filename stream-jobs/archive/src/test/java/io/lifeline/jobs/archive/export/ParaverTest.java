package io.lifeline.jobs.archive.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ParaverTest {
  @TempDir Path directory;

  /** Types by name instead of number. */
  private static List<String> named(ParaverTrace trace) {
    Map<String, String> types = trace.types.entrySet().stream()
        .collect(Collectors.toMap(type -> ":" + type.getKey() + ":", type -> ":" + type.getValue() + ":"));
    return trace.records.stream().map(record -> {
      String text = record;
      for (Map.Entry<String, String> type : types.entrySet()) {
        text = text.replace(type.getKey(), type.getValue());
      }
      return text;
    }).toList();
  }

  @Test
  void statesEventsAndCommunicationsAreThoseOfTheArchive() throws Exception {
    Exports exports = new Exports(directory);
    exports.archive(Scenario.batches(), 10_000);
    Counts counts = exports.write(ExportFormat.PARAVER, "copy.prv");
    ParaverTrace trace = ParaverTrace.read(exports.file("copy.prv"));
    assertThat(counts).hasToString(
        "events=21 pairs=6 communications=2 values_left_out=2 ends_without_start=2 reversed=1 open=1");
    assertThat(trace.duration).isEqualTo(700);
    assertThat(trace.threads).containsExactly("program (a, pid 42) thread 7", "program (b, pid 42) thread 7");
    List<String> records = named(trace);
    assertThat(records.stream().filter(record -> record.startsWith("1:0:1:1:1"))).containsExactly(
        "1:0:1:1:1:0:160:12", "1:0:1:1:1:160:200:0", "1:0:1:1:1:200:230:1", "1:0:1:1:1:230:700:0");
    assertThat(records.stream().filter(record -> record.startsWith("1:0:1:2:1"))).containsExactly(
        "1:0:1:2:1:105:150:3", "1:0:1:2:1:150:155:0", "1:0:1:2:1:155:170:3", "1:0:1:2:1:170:620:0",
        "1:0:1:2:1:620:700:3");
    assertThat(records.stream().filter(record -> record.startsWith("3"))).containsExactly(
        "3:0:1:1:1:100:100:0:1:2:1:105:105:4096:5", "3:0:1:1:1:160:160:0:1:2:1:170:170:4096:6");
    assertThat(records).contains("2:0:1:1:1:0:disk.read:1:disk.read id:5",
        "2:0:1:1:1:100:disk.read:0:disk.read id:5:disk.read nbytes (B):4096",
        "2:0:1:1:1:300:note:1:note fixed:1:note x (millionths):500000",
        "2:0:1:1:1:500:host.network:1:host.network receive_bytes (B):20",
        "2:0:1:2:1:600:lonely.start:1");
  }

  @Test
  void hostileEventsAreAllThere() throws Exception {
    Exports exports = new Exports(directory);
    List<byte[]> batches = Exports.hostile();
    exports.archive(batches, 10_000);
    exports.write(ExportFormat.PARAVER, "hostile.prv");
    ParaverTrace trace = ParaverTrace.read(exports.file("hostile.prv"));
    assertThat(trace.records.stream().filter(record -> record.startsWith("2"))).hasSize(Events.of(batches).size());
    exports.write(ExportFormat.PARAVER, "some.prv");
    try (var files = Files.list(directory)) {
      assertThat(files.map(file -> file.getFileName().toString())).contains("some.prv", "some.pcf", "some.row")
          .noneMatch(name -> name.endsWith(".tmp"));
    }
  }
}
