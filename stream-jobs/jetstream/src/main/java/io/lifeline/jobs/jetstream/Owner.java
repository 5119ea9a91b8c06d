package io.lifeline.jobs.jetstream;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.UUID;

/**
 * Identifies the holder of a lease: one run of one process. On Linux the ID includes the machine's boot ID and the PID
 * namespace, so that an instance started on the same machine detects at once that a killed owner is gone.
 */
final class Owner {

  private static final String PLACE = place();

  private final String text;

  Owner() {
    ProcessHandle self = ProcessHandle.current();
    text = PLACE + "/" + self.pid() + "/" + startMs(self) + "/" + UUID.randomUUID();
  }

  /** Returns whether the owner was a process on this machine and has ended. */
  static boolean hasEnded(String owner) {
    String[] parts = owner.split("/");
    if (parts.length != 4 || PLACE.isEmpty() || !parts[0].equals(PLACE)) {
      return false;
    }
    return ProcessHandle.of(Long.parseLong(parts[1]))
        .map(process -> !process.isAlive() || startMs(process) != Long.parseLong(parts[2]))
        .orElse(true);
  }

  private static long startMs(ProcessHandle process) {
    return process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
  }

  private static String place() {
    try {
      String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
      String namespace = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString().replaceAll("[^0-9]", "");
      return boot + ":" + namespace;
    } catch (IOException e) {
      return "";
    }
  }

  @Override
  public String toString() {
    return text;
  }
}
