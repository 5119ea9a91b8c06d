package io.lifeline.jobs.archive.export;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/** Paraver's states of a thread, with the numbers and colours that its tools use, and the words that lead to them. */
enum ParaverState {
  IDLE(0, "Idle", "{117,195,255}"),
  RUNNING(1, "Running", "{0,0,255}"),
  WAITING_MESSAGE(3, "Waiting a message", "{255,0,0}", "receive", "recv"),
  SYNCHRONIZATION(5, "Synchronization", "{179,0,0}", "lock", "wait", "barrier", "sync", "join"),
  BLOCKED(9, "Blocked", "{172,174,41}", "block", "blocked", "stall", "stalled"),
  IO(12, "I/O", "{255,0,255}", "disk", "file", "read", "write", "net", "send", "io", "fsync", "open", "close");

  final int number;
  final String label;
  final String colour;
  private final Set<String> words;

  ParaverState(int number, String label, String colour, String... words) {
    this.number = number;
    this.label = label;
    this.colour = colour;
    this.words = Set.of(words);
  }

  /** Returns the state of a thread during an operation: by a word of its name, and running if there is none. */
  static ParaverState during(String operation) {
    Set<String> words = new HashSet<>(Arrays.asList(operation.toLowerCase(Locale.ROOT).split("[^a-z0-9]+")));
    for (ParaverState state : values()) {
      if (state.words.stream().anyMatch(words::contains)) {
        return state;
      }
    }
    return RUNNING;
  }
}
