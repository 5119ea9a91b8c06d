package io.lifeline.jobs.cli;

import io.lifeline.jobs.core.JobHost;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.NativeLibraries;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.lifeline.jobs.live.ConfigOptions;
import io.lifeline.jobs.live.Hosts;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Runs jobs until the process is asked to stop. */
@Command(
    name = "run",
    description = {
      "Runs the configured jobs until SIGTERM or SIGINT, then shuts down gracefully.",
      "Prints one line 'ready: health=URL broker=URL jobs=LIST' when they run; health is at URL/health, metrics at "
          + "URL/metrics."
    },
    mixinStandardHelpOptions = true)
final class RunCommand implements Callable<Integer> {

  /** Longer than any host needs; supervisors allow 90 seconds or more. */
  private static final Duration END_TIMEOUT = Duration.ofSeconds(60);

  @Mixin private ConfigOptions options;
  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws HostException, IOException, InterruptedException {
    JobConfig config = options.load();
    Metrics metrics = new Metrics();
    CountDownLatch end = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    AtomicReference<Thread> starting = new AtomicReference<>(Thread.currentThread());
    Runtime.getRuntime().addShutdownHook(new Thread(() -> endInGoodOrder(starting, end, ended), "lifeline-end"));
    try (JobHost host = Hosts.create(config, metrics)) {
      start(host, starting);
      try (HealthServer health = HealthServer.start(config.get(Keys.HEALTH_LISTEN), host, metrics)) {
        host.failure().thenAccept(reason -> end.countDown());
        PrintWriter out = spec.commandLine().getOut();
        out.printf(
            Locale.ROOT,
            "ready: health=%s broker=%s jobs=%s%n",
            health.url(), config.get(Keys.BROKER_URL_KEY), String.join(",", config.get(Keys.JOBS)));
        out.flush();
        end.await();
      }
      return host.failure().toCompletableFuture().isDone() ? failed(host) : 0;
    } finally {
      ended.countDown();
    }
  }

  /** Starts the host. A stop request interrupts only the start, which may wait for a broker, and nothing after it. */
  private static void start(JobHost host, AtomicReference<Thread> starting) throws HostException {
    try {
      host.start();
    } finally {
      starting.set(null);
      Thread.interrupted();
    }
  }

  private int failed(JobHost host) {
    Throwable reason = host.failure().toCompletableFuture().join();
    spec.commandLine().getErr().println("lifeline-jobs: cannot go on: "
        + Objects.requireNonNullElseGet(NativeLibraries.explain(reason), reason::getMessage));
    return 1;
  }

  /**
   * Runs when the process is asked to stop, and also when it ends by itself; then the latches are open already. The
   * main thread cannot return an exit code while the JVM shuts down, so a requested stop is turned into success here.
   */
  private static void endInGoodOrder(AtomicReference<Thread> starting, CountDownLatch end, CountDownLatch ended) {
    if (ended.getCount() == 0) {
      return;
    }
    end.countDown();
    Thread start = starting.get();
    if (start != null) {
      start.interrupt();
    }
    boolean inGoodOrder = false;
    try {
      inGoodOrder = ended.await(END_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!inGoodOrder) {
      System.err.println(
          "lifeline-jobs: did not shut down gracefully within " + END_TIMEOUT.toSeconds()
              + " s, and is stopped: the next start repeats work that was not checkpointed");
    }
    System.out.flush();
    System.err.flush();
    Runtime.getRuntime().halt(inGoodOrder ? 0 : 1);
  }
}
