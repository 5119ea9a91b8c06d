package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.RollOptions;
import io.lifeline.jobs.archive.location.ArchiveSettings;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.JobHost;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Pipeline;
import io.lifeline.jobs.core.StateReader.CorruptStateException;
import io.lifeline.jobs.core.all.AllJobs;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.lifeline.jobs.core.plan.ByEmitter;
import io.lifeline.jobs.core.plan.JobFactory;
import io.lifeline.jobs.core.plan.Plan;
import io.lifeline.jobs.core.plan.TwoStagePlan;
import io.lifeline.jobs.core.signing.Signatures;
import io.nats.client.JetStreamApiException;
import io.nats.client.KeyValue;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs jobs on JetStream. Each job is one task with its own thread, consumer and checkpoint, or one task per group of
 * subjects, which several instances share by leases. Summaries need one more task, which merges the results of the
 * groups. Bottlenecks cover all emitters and the archive is one directory, so each of them is a single task.
 */
public final class JetStreamHost implements JobHost {

  private static final Logger LOG = LoggerFactory.getLogger(JetStreamHost.class);
  private static final long START_POLL_MS = 20;

  private final JobConfig config;
  private final Metrics metrics;
  private final NatsSettings nats;
  private final Signatures signatures;
  private final CompletableFuture<Throwable> failure = new CompletableFuture<>();
  private final List<Plan> plans = new ArrayList<>();
  private final List<Task> tasks = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final List<Sharing> sharings = new ArrayList<>();
  private Broker broker;

  public JetStreamHost(JobConfig config, Metrics metrics) {
    this.config = config;
    this.metrics = metrics;
    this.nats = new NatsSettings(config);
    this.signatures = Signatures.of(config.find(Keys.SIGNATURE_KEYS).orElse(List.of()));
  }

  @Override
  public void start() throws HostException {
    broker = Broker.connect(nats);
    for (String job : config.get(Keys.JOBS)) {
      addTasks(job);
    }
    requireNothingLeft(nats.formerBucket());
    for (Task task : tasks) {
      Thread thread = new Thread(task, "lifeline-" + task.name());
      threads.add(thread);
      thread.start();
    }
    awaitTasks();
  }

  /** With an empty bucket all jobs would start over and publish their results again. */
  private void requireNothingLeft(String formerBucket) throws HostException {
    if (formerBucket == null) {
      return;
    }
    try {
      KeyValue former = broker.former(formerBucket);
      for (Task task : tasks) {
        if (former != null && task instanceof JobTask job && job.isLeftIn(former)) {
          throw new HostException("the checkpoint of " + task.name() + " is in the bucket " + formerBucket
              + ", where earlier releases kept those of every names.prefix, and " + nats.bucket() + " has none: set "
              + Keys.NATS_BUCKET.name() + "=" + formerBucket + " to go on with it, or " + Keys.NATS_BUCKET.name() + "="
              + nats.bucket() + " to start over");
        }
      }
    } catch (IOException | JetStreamApiException | CorruptStateException e) {
      throw new HostException("the checkpoints in the bucket " + formerBucket + " cannot be looked at: "
          + e.getMessage(), e);
    }
  }

  /** Returns when every task works, stands by or has reported its error. */
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
    plans.forEach(Plan::close);
    if (broker != null) {
      sharings.forEach(JetStreamHost::leave);
      broker.close();
    }
  }

  /** Best effort: the other instances time out otherwise. */
  private static void leave(Sharing sharing) {
    try {
      sharing.leave();
    } catch (IOException | JetStreamApiException | IllegalStateException e) {
      LOG.debug("the other instances could not be notified of the end: {}", e.getMessage());
    }
  }

  private void addTasks(String job) throws HostException {
    if (job.equals(ArchiveTask.NAME)) {
      tasks.add(
          new ArchiveTask(
              broker,
              ArchiveSettings.archive(config),
              nats.subjects(0, 1),
              readsAll(),
              config.get(Keys.NAMES_PREFIX),
              config.find(Keys.ARCHIVE_ROLL_INTERVAL).orElse(RollOptions.DEFAULT_INTERVAL),
              config.get(Keys.NATS_LEASE),
              signatures,
              metrics,
              failure));
      return;
    }
    JobFactory factory =
        AllJobs.of(() -> ArchiveSettings.find(config).map(Archive::counts)).stream()
            .filter(each -> each.name().equals(job))
            .findFirst()
            .orElseThrow();
    if (factory.derives()) {
      broker.requireOutput(config.get(Keys.NAMES_PREFIX) + Destination.DERIVED + ">", "which " + job + " needs");
    }
    Plan plan = factory.plan(config, metrics);
    plans.add(plan);
    // All jobs share the bucket, so a reader of a derived stream needs checkpoint names different from a batch
    // reader's.
    String name = config.derivedInput().map(stream -> job + "-of-" + stream).orElse(job);
    int groups = config.get(Keys.NATS_GROUPS);
    if (plan instanceof TwoStagePlan<?> stages) {
      addStages(job, name, groups, stages);
    } else {
      addGroupTasks(name, groups, (group, state, life) -> ((ByEmitter) plan).job().apply(state));
    }
  }

  /** Adds one task if it must read everything; otherwise one per group, and one that merges their output. */
  private void addStages(String job, String name, int groups, TwoStagePlan<?> stages) throws HostException {
    TwoStagePlan.Grouped grouped = groups == 1 ? null : stages.grouped(groups).orElse(null);
    if (grouped == null) {
      addGroupTasks(name, 1, (group, state, life) -> stages.whole(state));
      return;
    }
    String subject = grouped.between().topic(config.get(Keys.NAMES_PREFIX));
    broker.requireOutput(subject, "which " + job + " needs with nats.groups above 1");
    addGroupTasks(name, groups, grouped::first);
    tasks.add(
        new JobTask(
            name + "-" + stages.second() + "-of-" + groups,
            broker,
            new JobTask.Source(Broker::output, new String[] {subject}, false),
            ShardQuota.ALWAYS,
            taskSettings(),
            (state, life) -> Intake.of(grouped.second(state, life, System::nanoTime)),
            metrics,
            failure));
  }

  /** Creates the job of one group. */
  @FunctionalInterface
  private interface GroupJobs {
    Job over(int group, KeyedState state, String life);
  }

  private void addGroupTasks(String job, int groups, GroupJobs make) {
    Sharing sharing = groups == 1 ? null : shareOut(job, groups);
    boolean readsAll = groups == 1 && readsAll();
    for (int number = 0; number < groups; number++) {
      int group = number;
      String name = groups == 1 ? job : job + "-" + group + "-of-" + groups;
      long retentionMs = config.get(Keys.RETENTION).toMillis();
      tasks.add(
          new JobTask(
              name,
              broker,
              new JobTask.Source(Broker::batches, nats.subjects(group, groups), readsAll),
              sharing == null ? ShardQuota.ALWAYS : sharing.turn(),
              taskSettings(),
              (state, life) ->
                  Intake.of(
                      new Pipeline(
                          name,
                          state,
                          retentionMs,
                          nats.placement(group, groups),
                          List.of(make.over(group, state, life)),
                          metrics),
                      signatures),
              metrics,
              failure));
    }
  }

  /** Returns whether the stream holds nothing but batches. */
  private boolean readsAll() {
    return broker.subjects().equals(List.of(nats.subjects(0, 1)));
  }

  private Sharing shareOut(String job, int groups) {
    Sharing sharing =
        new Sharing(
            broker::bucket,
            broker::management,
            broker.owner(),
            job,
            groups,
            config.get(Keys.NATS_LEASE),
            System::nanoTime);
    sharings.add(sharing);
    return sharing;
  }

  private JobTask.Settings taskSettings() {
    return new JobTask.Settings(
        config.get(Keys.NATS_LEASE),
        config.get(Keys.CHECKPOINT_INTERVAL),
        config.get(Keys.CHECKPOINT_BATCHES),
        config.get(Keys.NAMES_PREFIX));
  }
}
