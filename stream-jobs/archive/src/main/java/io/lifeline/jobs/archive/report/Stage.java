package io.lifeline.jobs.archive.report;

import java.util.List;

/** What can hold a copy up, each with the operations ({@code X.start}, {@code X.end}) that are its work. */
public enum Stage {
  DISK_READ("disk-read", "disk.read"),
  /** From the send call's begin to the receive call's end: the kernels' buffers and the wire lie between. */
  NETWORK("network", "net.send", "net.receive"),
  DISK_WRITE("disk-write", "disk.write"),
  /** The programs themselves: blocks wait, or none is under way, and no operation runs. */
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

  /** The stage whose work the operation is; null if it is none's. */
  public static Stage of(String operation) {
    for (Stage stage : values()) {
      if (stage.operations.contains(operation)) {
        return stage;
      }
    }
    return null;
  }
}
