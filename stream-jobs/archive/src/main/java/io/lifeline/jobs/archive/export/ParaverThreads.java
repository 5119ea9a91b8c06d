package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.core.Terminal;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The objects of a Paraver trace, numbered from 1: hosts are nodes, programs are applications, processes are tasks. The
 * processors are unknown, so that each node has one and records name processor 0.
 */
final class ParaverThreads {
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("dd/MM/yy 'at' HH:mm").withZone(ZoneOffset.UTC);

  /** A thread, and what it does. */
  static final class ThreadObject {
    /** {@code cpu:application:task:thread}, which each record has. */
    final String place;
    private final String name;
    private final TreeMap<Long, ParaverState> operations = new TreeMap<>();
    private ParaverState state = ParaverState.IDLE;
    private long sinceNs;
    private long next;

    private ThreadObject(String place, String name, long sinceNs) {
      this.place = place;
      this.name = name;
      this.sinceNs = sinceNs;
    }

    /** Begins an operation and returns its number. */
    long begin(ParaverState during) {
      operations.put(next, during);
      return next++;
    }

    void end(long operation) {
      operations.remove(operation);
    }

    /**
     * Adopts the state of the operation that began last, or idle. Returns the record of the state before, unless that
     * is the same or lasted no time.
     */
    String turn(long timeNs) {
      ParaverState now = operations.isEmpty() ? ParaverState.IDLE : operations.lastEntry().getValue();
      if (now == state) {
        return null;
      }
      String before = finish(timeNs);
      state = now;
      sinceNs = timeNs;
      return before;
    }

    /** Returns the record of the state until now. */
    String finish(long timeNs) {
      return timeNs == sinceNs ? null : "1:" + place + ":" + sinceNs + ":" + timeNs + ":" + state.number;
    }

    long sinceNs() {
      return sinceNs;
    }
  }

  private static final class Task {
    final int number;
    final int node;
    final String name;
    final Map<Long, ThreadObject> threads = new LinkedHashMap<>();

    Task(int number, int node, String name) {
      this.number = number;
      this.node = node;
      this.name = name;
    }
  }

  private static final class Application {
    final int number;
    final List<Task> tasks = new ArrayList<>();

    Application(int number) {
      this.number = number;
    }
  }

  private record Process(Application application, Task task) {}

  private final int maxThreads;
  private final Map<String, Integer> nodes = new LinkedHashMap<>();
  private final Map<String, Application> applications = new LinkedHashMap<>();
  private final Map<String, Process> processes = new HashMap<>();
  private int count;

  ParaverThreads(int maxThreads) {
    this.maxThreads = maxThreads;
  }

  /**
   * Returns the event's thread; null if no more threads are allowed.
   *
   * @param timeNs of the event, in the trace
   */
  ThreadObject of(ArchivedEvent event, long timeNs) {
    Process process = processes.get(event.incarnation());
    ThreadObject thread = process == null ? null : process.task.threads.get(event.thread());
    if (thread != null || count == maxThreads) {
      return thread;
    }
    if (process == null) {
      process = newProcess(event);
      processes.put(event.incarnation(), process);
    }
    Task task = process.task;
    thread = new ThreadObject("0:" + process.application.number + ":" + task.number + ":" + (task.threads.size() + 1),
        task.name + " thread " + Long.toUnsignedString(event.thread()), timeNs);
    task.threads.put(event.thread(), thread);
    count++;
    return thread;
  }

  private Process newProcess(ArchivedEvent event) {
    String host = Terminal.printable(ShortText.of(event.host()));
    String program = Terminal.printable(ShortText.of(event.program()));
    int node = nodes.computeIfAbsent(host, key -> nodes.size() + 1);
    Application application = applications.computeIfAbsent(program, key -> new Application(applications.size() + 1));
    Task task =
        new Task(application.tasks.size() + 1, node, program + " (" + host + ", pid " + event.pid() + ")");
    application.tasks.add(task);
    return new Process(application, task);
  }

  List<ThreadObject> all() {
    return applications.values().stream().flatMap(application -> application.tasks.stream())
        .flatMap(task -> task.threads.values().stream()).toList();
  }

  /**
   * Returns the first line of the trace.
   *
   * @param firstNs time of its first event since 1970
   */
  String header(long firstNs, long durationNs) {
    String date = DATE.format(Instant.ofEpochSecond(Math.floorDiv(firstNs, 1_000_000_000L)));
    String processors = nodes.values().stream().map(node -> "1").collect(Collectors.joining(","));
    String objects = applications.values().stream().map(application -> application.tasks.size()
            + application.tasks.stream().map(task -> task.threads.size() + ":" + task.node)
                .collect(Collectors.joining(",", "(", ")")))
        .collect(Collectors.joining(":"));
    return "#Paraver (" + date + "):" + durationNs + "_ns:" + nodes.size() + "(" + processors + "):"
        + applications.size() + ":" + objects;
  }

  /** Returns the file with the names of all objects. */
  String names() {
    StringBuilder text = new StringBuilder();
    level(text, "NODE", List.copyOf(nodes.keySet()));
    level(text, "APPL", List.copyOf(applications.keySet()));
    level(text, "THREAD", all().stream().map(thread -> thread.name).toList());
    return text.toString();
  }

  private static void level(StringBuilder text, String level, List<String> names) {
    text.append("LEVEL ").append(level).append(" SIZE ").append(names.size()).append('\n');
    names.forEach(name -> text.append(name).append('\n'));
    text.append('\n');
  }
}
