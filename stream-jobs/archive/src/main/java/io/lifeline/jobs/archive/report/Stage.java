package io.lifeline.jobs.archive.report;

import java.util.List;

/**
 * The stages of a copy that can be the bottleneck, with the operations ({@code X.start}, {@code X.end}) that are their
 * work.
 */
public enum Stage {
  DISK_READ("disk-read", "disk.read"),
  /** From the start of the send call to the end of the receive call, including kernel buffers and transmission. */
  NETWORK("network", "net.send", "net.receive"),
  DISK_WRITE("disk-write", "disk.write"),
  /** The programs themselves: blocks wait, or none is in progress, and no operation runs. */
  CPU("cpu");

  private final String label;
  private final List<String> operations;

  Stage(String label, String... operations) {
    this.label = label;
    this.operations = List.of(operations);
  }

  public String label() {
    return label;
  }

  /** Returns the stage that the operation belongs to; null if none. */
  public static Stage of(String operation) {
    for (Stage stage : values()) {
      if (stage.operations.contains(operation)) {
        return stage;
      }
    }
    return null;
  }
}
