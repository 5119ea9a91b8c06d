package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.JobHost.HostException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.LongStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks the required topics, creates result topics on demand, and looks up log starts. */
final class Topics implements TopologySettings.ResultTopics, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Topics.class);
  private static final long TIMEOUT_S = 30;
  private static final String LOG_APPEND_TIME = "LogAppendTime";
  private static final long ASK_AGAIN_NS = 1_000_000_000;
  private static final int ANSWER_MS = 2000;
  private static final long SILENCE_NS = 5_000_000_000L;
  private static final long WAIT_MS = 100;
  private static final long LONGEST_WAIT_MS = 2000;

  private final Admin admin;
  private final KafkaSettings settings;
  private volatile Set<String> atStart = Set.of();
  private volatile int batchPartitions;
  private final Set<String> eventTopics = new HashSet<>();
  private boolean isFull;
  private Uuid lastId;
  private long askedNs = System.nanoTime() - ASK_AGAIN_NS - 1;
  private boolean isAsking;
  private final Map<String, KafkaFuture<Void>> making = new ConcurrentHashMap<>();
  private final Map<String, String> ensured = new ConcurrentHashMap<>();
  private volatile long silentUntilNs = System.nanoTime();

  /** Creates a client; nothing is sent yet. */
  Topics(KafkaSettings settings) throws HostException {
    this.settings = settings;
    try {
      this.admin = Admin.create(settings.admin());
    } catch (KafkaException e) {
      throw BrokerTrouble.explain(settings.shownUrl(), e);
    }
  }

  /** Checks that the broker answers and has these topics; waits briefly for topics that were created just now. */
  void require(List<String> wanted) throws HostException {
    if (!answers()) {
      LOG.warn("{} cannot be reached; waiting up to {} s for it", settings.shownUrl(), TIMEOUT_S);
    }
    try {
      Set<String> missing = missing(wanted);
      for (long waitedMs = 0; !missing.isEmpty() && waitedMs < LONGEST_WAIT_MS; waitedMs += WAIT_MS) {
        Thread.sleep(WAIT_MS);
        missing = missing(wanted);
      }
      if (!missing.isEmpty()) {
        throw new HostException(
            settings.shownUrl() + " has no topic " + String.join(", ", missing) + ": create them with lifeline-setup");
      }
    } catch (ExecutionException e) {
      throw BrokerTrouble.explain(settings.shownUrl(), e.getCause());
    } catch (TimeoutException e) {
      throw BrokerTrouble.explain(settings.shownUrl(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HostException("interrupted while looking for topics", e);
    }
  }

  /** Returns whether the broker answers now, even with an error. */
  boolean answers() {
    try {
      DescribeClusterOptions options = new DescribeClusterOptions().timeoutMs(ANSWER_MS);
      admin.describeCluster(options).nodes().get(ANSWER_MS, TimeUnit.MILLISECONDS);
      return true;
    } catch (ExecutionException e) {
      return !(e.getCause() instanceof RetriableException);
    } catch (TimeoutException e) {
      return false;
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  private Set<String> missing(List<String> wanted)
      throws ExecutionException, InterruptedException, TimeoutException {
    atStart = admin.listTopics().names().get(TIMEOUT_S, TimeUnit.SECONDS);
    Set<String> missing = new TreeSet<>(wanted);
    missing.removeAll(atStart);
    return missing;
  }

  /**
   * Creates the topic if it does not exist, and returns its name; null if it is an event topic and there are too many.
   * The broker's defaults apply, except that readers rely on the number of partitions: a batch topic gets as many as
   * the input topic, an event topic the configured number. Batch topics use broker timestamps, as the input does. Kafka
   * refuses a name that differs from an existing one only in dots and underscores; then the name includes the hash of
   * the wanted name.
   *
   * <p>Stream threads call this, which must poll, and whose transactions time out: topics that existed at the start
   * are not asked about, and the answer to a request is awaited for seconds. A later call finds it.
   *
   * @throws TopicPendingException if the broker has not made the topic yet
   */
  @Override
  public String ensure(String topic, Destination.Kind kind) {
    String known = ensured.get(topic);
    if (known != null) {
      return known;
    }
    if (kind == Destination.Kind.EVENTS && !mayBeMade(topic)) {
      return null;
    }
    String made = isMade(topic, kind) ? topic : Destination.hashed(topic);
    if (!made.equals(topic) && !isMade(made, kind)) {
      throw new KafkaException("the broker refuses the topic names " + topic + " and " + made);
    }
    ensured.put(topic, made);
    return made;
  }

  /** Limits event topics: emitters define types freely, and each topic costs the broker partitions permanently. */
  private synchronized boolean mayBeMade(String topic) {
    if (eventTopics.isEmpty()) {
      atStart.stream().filter(name -> name.startsWith(settings.eventsPrefix())).forEach(eventTopics::add);
    }
    if (eventTopics.contains(topic) || settings.namedEventTopics().contains(topic)) {
      return true;
    }
    if (eventTopics.size() >= settings.maxEventTopics()) {
      if (!isFull) {
        isFull = true;
        LOG.warn("there are {} topics of decoded events: further types are skipped and counted in "
            + "lifeline_decode_untopical_total; raise decode.max.topics, or name the types in decode.types",
            eventTopics.size());
      }
      return false;
    }
    return eventTopics.add(topic);
  }

  /** Creates the topic if it does not exist; returns false if the broker refuses its name. */
  private boolean isMade(String topic, Destination.Kind kind) {
    if (atStart.contains(topic)) {
      return true;
    }
    try {
      making.computeIfAbsent(topic, name -> make(name, kind)).get(ANSWER_MS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      making.remove(topic);
      if (e.getCause() instanceof InvalidTopicException) {
        return false;
      }
      if (e.getCause() instanceof RetriableException && !(e.getCause() instanceof TopicExistsException)) {
        throw new TopicPendingException(topic, e.getCause());
      }
      if (!(e.getCause() instanceof TopicExistsException)) {
        throw new KafkaException("topic " + topic + " cannot be made: " + e.getCause().getMessage(), e.getCause());
      }
    } catch (TimeoutException e) {
      throw new TopicPendingException(topic, e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
    making.remove(topic);
    return true;
  }

  private KafkaFuture<Void> make(String topic, Destination.Kind kind) {
    int partitions = kind == Destination.Kind.DERIVED ? batchPartitions : settings.eventPartitions();
    Map<String, String> config =
        kind == Destination.Kind.DERIVED
            ? Map.of(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, LOG_APPEND_TIME)
            : Map.of();
    NewTopic wanted = new NewTopic(topic, Optional.of(partitions), Optional.empty()).configs(config);
    return admin.createTopics(List.of(wanted)).all();
  }

  /** Returns the number of partitions of the batch topic; called before {@link #ensure}. */
  int partitions() {
    try {
      batchPartitions = batchesDescribed().get(TIMEOUT_S, TimeUnit.SECONDS).partitions().size();
      return batchPartitions;
    } catch (ExecutionException | TimeoutException e) {
      throw new KafkaException("the partitions of " + settings.batches() + " cannot be counted", e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /**
   * Returns the ID of the batch topic, which changes when the topic is recreated; null if the broker has no topic IDs.
   *
   * @throws KafkaException if the ID cannot be determined now
   */
  Uuid batchesId() {
    try {
      return id(batchesDescribed().get(ANSWER_MS, TimeUnit.MILLISECONDS));
    } catch (ExecutionException | TimeoutException e) {
      throw new KafkaException("the id of " + settings.batches() + " cannot be found out now", e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /**
   * Brokers before 2.8, and some that only implement Kafka's protocol, have no IDs: they report the same one for all
   * topics.
   */
  static Uuid id(TopicDescription topic) {
    return topic.topicId() == null || topic.topicId().equals(Uuid.ZERO_UUID) ? null : topic.topicId();
  }

  /** Looks up the ID, so that {@link #lastBatchesId} returns it from the start. */
  void awaitBatchesId() {
    Uuid id = batchesId();
    synchronized (this) {
      lastId = id;
    }
  }

  /**
   * Returns {@link #batchesId} as of the last answer, about a second old unless the broker does not answer; null before
   * the first answer. Does not block, because stream threads must not.
   */
  synchronized String lastBatchesId() {
    if (System.nanoTime() - askedNs > ASK_AGAIN_NS && !isAsking) {
      isAsking = true;
      askedNs = System.nanoTime();
      batchesDescribed().whenComplete((description, error) -> setBatchesId(description));
    }
    return lastId == null ? null : lastId.toString();
  }

  private synchronized void setBatchesId(TopicDescription description) {
    isAsking = false;
    lastId = description == null ? lastId : id(description);
  }

  private KafkaFuture<TopicDescription> batchesDescribed() {
    return admin.describeTopics(List.of(settings.batches())).topicNameValues().get(settings.batches());
  }

  /**
   * Warns if the batch topic does not use broker timestamps: jobs judge the age of a batch by them, and producers
   * should not set them. Implausible times are not trusted anyway, see {@link io.lifeline.jobs.core.ProducerTime}.
   */
  void warnUnlessBrokerTime() {
    ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, settings.batches());
    try {
      String type =
          admin.describeConfigs(List.of(topic)).all().get(TIMEOUT_S, TimeUnit.SECONDS).get(topic)
              .get(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG).value();
      if (!type.equals(LOG_APPEND_TIME)) {
        LOG.warn(
            "the topic {} has message.timestamp.type={}, so that producers say when a batch came, by which it is"
                + " forgotten: kafka-configs.sh --alter --topic {} --add-config message.timestamp.type=LogAppendTime"
                + " gives it the broker's time, as lifeline-setup does",
            settings.batches(), type, settings.batches());
      }
    } catch (ExecutionException | TimeoutException e) {
      LOG.info("cannot find out whether {} has the broker's time: {}", settings.batches(), e.toString());
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /** Returns the first offset after the last message of each partition of the batch topic. */
  Map<Integer, Long> logEnds() {
    Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
    for (int partition = partitions() - 1; partition >= 0; partition--) {
      wanted.put(new TopicPartition(settings.batches(), partition), OffsetSpec.latest());
    }
    try {
      Map<Integer, Long> ends = new HashMap<>();
      admin.listOffsets(wanted).all().get(TIMEOUT_S, TimeUnit.SECONDS)
          .forEach((partition, end) -> ends.put(partition.partition(), end.offset()));
      return ends;
    } catch (ExecutionException | TimeoutException e) {
      throw new KafkaException("the ends of " + settings.batches() + " cannot be found", e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /**
   * Returns the number of messages of the batch topic from these offsets on, as of now; NaN if the broker does not
   * answer.
   *
   * @param next by partition
   */
  double lag(Map<Integer, Long> next) {
    if (isSilent()) {
      return Double.NaN;
    }
    try {
      return lags(next).sum();
    } catch (ExecutionException | TimeoutException e) {
      silentUntilNs = System.nanoTime() + SILENCE_NS;
      return Double.NaN;
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /**
   * Returns the number of messages of the batch topic that stream jobs have not committed, in the partition that has
   * the most of them; NaN if the broker does not answer. A consumer knows only what it has fetched, and fetches nothing
   * while it is stuck.
   */
  double largestUncommitted() {
    if (isSilent()) {
      return Double.NaN;
    }
    try {
      Map<Integer, Long> next = new HashMap<>();
      admin.listConsumerGroupOffsets(settings.applicationId()).partitionsToOffsetAndMetadata()
          .get(ANSWER_MS, TimeUnit.MILLISECONDS).forEach((partition, offset) -> {
            if (offset != null && partition.topic().equals(settings.batches())) {
              next.put(partition.partition(), offset.offset());
            }
          });
      for (int partition = 0; partition < batchPartitions; partition++) {
        if (!next.containsKey(partition)) {
          next.put(partition, logStart(partition).toCompletableFuture().get(ANSWER_MS, TimeUnit.MILLISECONDS));
        }
      }
      return lags(next).max().orElse(0);
    } catch (ExecutionException | TimeoutException e) {
      silentUntilNs = System.nanoTime() + SILENCE_NS;
      return Double.NaN;
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /** Returns whether a metric has just had no answer: the others of the same request do not wait too. */
  private boolean isSilent() {
    return silentUntilNs - System.nanoTime() > 0;
  }

  private LongStream lags(Map<Integer, Long> next)
      throws ExecutionException, InterruptedException, TimeoutException {
    Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
    next.keySet().forEach(
        partition -> wanted.put(new TopicPartition(settings.batches(), partition), OffsetSpec.latest()));
    return admin.listOffsets(wanted).all().get(ANSWER_MS, TimeUnit.MILLISECONDS).entrySet().stream()
        .mapToLong(end -> Math.max(0, end.getValue().offset() - next.get(end.getKey().partition())));
  }

  /** Asks for the first offset that retention has left in a partition of the batch topic. */
  CompletionStage<Long> logStart(int partition) {
    TopicPartition batches = new TopicPartition(settings.batches(), partition);
    return admin.listOffsets(Map.of(batches, OffsetSpec.earliest())).partitionResult(batches).toCompletionStage()
        .thenApply(ListOffsetsResultInfo::offset);
  }

  private static KafkaException interrupted(InterruptedException e) {
    Thread.currentThread().interrupt();
    return new InterruptException(e);
  }

  /** Pending requests have been answered or given up. */
  @Override
  public void close() {
    admin.close(Duration.ZERO);
  }
}
