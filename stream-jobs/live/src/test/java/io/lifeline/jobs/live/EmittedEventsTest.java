package io.lifeline.jobs.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.core.config.JobConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("system")
class EmittedEventsTest {
  @TempDir Path directory;

  @Test
  void aProgramThatReadsNothingIsEndedWithTheLast() throws Exception {
    Path program = Files.writeString(directory.resolve("lifeline-emit"), "#!/bin/sh\necho $$ > '" + directory
        + "/new' && mv '" + directory + "/new' '" + directory + "/pid'\nexec sleep 600\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    EmittedEvents events = new EmittedEvents(
        JobConfig.load(null, Map.of(), Map.of("broker.url", "nats://127.0.0.1:1")), Programs.in(directory), "test");
    for (int i = 0; i < 3000; i++) {
      events.emit("test.event", Map.of("text", "x".repeat(1000)));
    }
    assertThat(events.dropped()).isPositive();
    Path pid = directory.resolve("pid");
    long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
    while (!Files.exists(pid) && System.nanoTime() < end) {
      Thread.sleep(10);
    }
    ProcessHandle hanging = ProcessHandle.of(Long.parseLong(Files.readString(pid).strip())).orElseThrow();
    events.close();
    hanging.onExit().get(60, TimeUnit.SECONDS);
  }
}
