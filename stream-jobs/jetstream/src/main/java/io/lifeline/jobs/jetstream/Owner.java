package io.lifeline.jobs.jetstream;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/**
 * Identifies the holder of a lease: one run of one process. On Linux the ID includes the machine's boot ID and the PID
 * namespace, so that an instance started on the same machine detects at once that a killed owner is gone. The start of
 * the process is in ticks since the boot: its wall-clock time, as Java computes it, changes when the clock is set.
 */
final class Owner {

  private static final String PLACE = place();

  private final String text;

  /** Ends the ID; those of earlier releases have no such part, and their start is a wall-clock time. */
  private static final String FORM = "ticks";

  private static final int PARTS = 5;

  /** Position of the start among the words of {@code /proc/PID/stat} after the program's name. */
  private static final int START = 19;

  Owner() {
    long pid = ProcessHandle.current().pid();
    text = PLACE + "/" + pid + "/" + startTicks(pid) + "/" + UUID.randomUUID() + "/" + FORM;
  }

  /** Returns whether the owner was a process on this machine and has ended. */
  static boolean hasEnded(String owner) {
    String[] parts = owner.split("/");
    if (parts.length < PARTS - 1 || PLACE.isEmpty() || !parts[0].equals(PLACE)) {
      return false;
    }
    long pid = Long.parseLong(parts[1]);
    if (!ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false)) {
      return true;
    }
    String start = startTicks(pid);
    return parts.length == PARTS && parts[4].equals(FORM) && !start.isEmpty() && !start.equals(parts[2]);
  }

  /** Returns the start of a process; empty if it is not known. */
  private static String startTicks(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.ISO_8859_1);
      return stat.substring(stat.lastIndexOf(')') + 2).split(" ")[START];
    } catch (IOException e) {
      return "";
    }
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
