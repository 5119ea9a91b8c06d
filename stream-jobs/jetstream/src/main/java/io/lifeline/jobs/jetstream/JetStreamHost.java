package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.ArchiveSettings;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.JobHost;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.lifeline.jobs.core.decode.DecodeJob;
import io.lifeline.jobs.core.decode.DecodeSettings;
import io.lifeline.jobs.core.ledger.ArchivedEvents;
import io.lifeline.jobs.core.ledger.LedgerJob;
import io.lifeline.jobs.core.ledger.LedgerSettings;
import io.lifeline.jobs.core.summarise.SummariseJob;
import io.lifeline.jobs.core.summarise.SummariseSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * Runs jobs on JetStream. Each job is a task with a thread, a consumer and a checkpoint of its own; jobs that work by
 * emitter are cut into as many tasks as there are groups of subjects, which several instances share out by leases.
 * Summaries merge all emitters and the archive is one directory, so each of these is one task.
 */
public final class JetStreamHost implements JobHost {

  private static final long START_POLL_MS = 20;

  private final JobConfig config;
  private final Metrics metrics;
  private final NatsSettings nats;
  private final CompletableFuture<Throwable> failure = new CompletableFuture<>();
  private final List<Task> tasks = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private Broker broker;

  public JetStreamHost(JobConfig config, Metrics metrics) {
    this.config = config;
    this.metrics = metrics;
    this.nats = new NatsSettings(config);
  }

  @Override
  public void start() throws HostException {
    broker = Broker.connect(nats);
    for (String job : config.get(Keys.JOBS)) {
      addTasks(job);
    }
    for (Task task : tasks) {
      Thread thread = new Thread(task, "lifeline-" + task.name());
      threads.add(thread);
      thread.start();
    }
    awaitTasks();
  }

  /** Returns when every task works, stands by, or has told what is wrong. */
  private void awaitTasks() throws HostException {
    try {
      while (!failure.isDone() && tasks.stream().anyMatch(task -> task.status().equals(Task.STARTING))) {
        Thread.sleep(START_POLL_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HostException("interrupted while starting", e);
    }
  }

  @Override
  public Map<String, String> health() {
    Map<String, String> health = new TreeMap<>();
    tasks.forEach(task -> health.put(task.name(), task.status()));
    return health;
  }

  @Override
  public CompletionStage<Throwable> failure() {
    return failure;
  }

  @Override
  public void close() {
    tasks.forEach(Task::stop);
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    if (broker != null) {
      broker.close();
    }
  }

  private void addTasks(String job) {
    switch (job) {
      case "summarise" ->
          addJobTasks(job, 1, state -> new SummariseJob(SummariseSettings.of(config), state, metrics));
      case "decode" ->
          addJobTasks(job, config.get(Keys.NATS_GROUPS), state -> new DecodeJob(DecodeSettings.of(config), metrics));
      case "ledger" -> addJobTasks(job, config.get(Keys.NATS_GROUPS), this::ledgerJob);
      case "archive" ->
          tasks.add(
              new ArchiveTask(
                  broker,
                  ArchiveSettings.archive(config),
                  nats.subjects(0, 1),
                  config.get(Keys.NAMES_PREFIX),
                  config.get(Keys.NATS_LEASE),
                  metrics,
                  failure));
      default -> throw new IllegalArgumentException("no such job: " + job);
    }
  }

  private Job ledgerJob(KeyedState state) {
    Optional<ArchivedEvents> archived = ArchiveSettings.find(config).map(Archive::counts);
    return new LedgerJob(LedgerSettings.of(config), state, archived, metrics);
  }

  private void addJobTasks(String job, int groups, Function<KeyedState, Job> make) {
    for (int group = 0; group < groups; group++) {
      String name = groups == 1 ? job : job + "-" + group + "-of-" + groups;
      JobTask.Settings settings =
          new JobTask.Settings(
              nats.subjects(group, groups),
              groups == 1,
              config.get(Keys.NATS_LEASE),
              config.get(Keys.CHECKPOINT_INTERVAL),
              config.get(Keys.CHECKPOINT_BATCHES),
              config.get(Keys.RETENTION).toMillis(),
              config.get(Keys.NAMES_PREFIX));
      tasks.add(new JobTask(name, broker, settings, make, metrics, failure));
    }
  }
}
