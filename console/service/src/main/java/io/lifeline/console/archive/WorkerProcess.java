package io.lifeline.console.archive;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A process that answers questions about the archive, with limits of memory and time. It may die of a question: nothing
 * else is in it. Used by one thread at a time.
 */
final class WorkerProcess implements AutoCloseable {
  /** On a busy machine. */
  private static final long START_MS = 120_000;
  /** Heap, and address space of the JVM without it and of DuckDB, which allocates and maps beyond its own limit. */
  private static final double HEAP = 0.375; // of DuckDB's memory
  private static final long JVM_ADDRESSES = 3L << 29;
  private static final double DUCKDB_ADDRESSES = 4.5; // times its memory
  /** The kernel ends this process before the console if the machine runs out of memory. No core files. */
  private static final String LIMITS =
      "ulimit -c 0; ulimit -v %d; echo 1000 2>/dev/null >/proc/self/oom_score_adj; exec \"$@\"";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Process process;
  private final DataOutputStream out;
  private final DataInputStream in;
  private final ScheduledExecutorService watch;
  private boolean isUsable;
  private volatile boolean isLate;

  /** @param watch runs time limits */
  private WorkerProcess(Process process, ScheduledExecutorService watch) {
    this.process = process;
    this.watch = watch;
    this.out = new DataOutputStream(process.getOutputStream());
    this.in = new DataInputStream(new BufferedInputStream(process.getInputStream()));
  }

  /** Starts a process and waits until it can be asked. */
  static WorkerProcess start(String main, ArchiveWorker.Setup setup, ScheduledExecutorService watch)
      throws IOException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    long addresses = JVM_ADDRESSES + (long) (DUCKDB_ADDRESSES * setup.memoryBytes());
    long heap = (long) (HEAP * setup.memoryBytes());
    String limits = String.format(Locale.ROOT, LIMITS, addresses >> 10);
    List<String> command = Stream.of("sh", "-c", limits, "sh", java, "-Xmx" + heap, "-Xss1m",
        "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=48m", "-XX:MaxMetaspaceSize=160m",
        "-XX:CompressedClassSpaceSize=64m", "-XX:-UsePerfData", "-XX:+ExitOnOutOfMemoryError",
        "-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=/dev/null", "-XX:+DisplayVMOutputToStderr", "-cp",
        System.getProperty("java.class.path"), main).toList();
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().put("MALLOC_ARENA_MAX", "4");
    WorkerProcess worker = new WorkerProcess(builder.start(), watch);
    try {
      ScheduledFuture<?> limit = watch.schedule(worker::close, START_MS, TimeUnit.MILLISECONDS);
      worker.send(JSON.writeValueAsBytes(setup));
      worker.in.readByte();
      limit.cancel(false);
      worker.isUsable = true;
      return worker;
    } catch (IOException e) {
      worker.close();
      throw new IOException("the process for questions to the archive cannot be started: " + e, e);
    }
  }

  /** Asks; the process is killed if it does not answer in time. */
  Answer ask(ArchiveWorker.Request request, long limitMs) throws QuestionException {
    isUsable = false;
    ScheduledFuture<?> limit = watch.schedule(() -> {
      isLate = true;
      close();
    }, limitMs, TimeUnit.MILLISECONDS);
    Answer answer;
    try {
      send(JSON.writeValueAsBytes(request));
      answer = Answer.read(in);
      isUsable = !isLate;
    } catch (IOException e) {
      close();
      throw new QuestionException(400, isLate
          ? "the question was ended after " + limitMs / 1000 + " s: restrict it, for example to a part of the time"
          : "the question ended the process that answered it: it needed too much memory, or is nested too deeply");
    } finally {
      limit.cancel(false);
    }
    if (answer.status() != Answer.OK) {
      throw new QuestionException(answer.status(), new String(answer.bytes(), StandardCharsets.UTF_8));
    }
    return answer;
  }

  private void send(byte[] bytes) throws IOException {
    out.writeInt(bytes.length);
    out.write(bytes);
    out.flush();
  }

  /** Returns whether it can be asked again. */
  boolean isUsable() {
    return isUsable && process.isAlive();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
