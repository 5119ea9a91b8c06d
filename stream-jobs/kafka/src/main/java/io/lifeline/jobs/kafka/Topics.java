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
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
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
  private static final long WAIT_MS = 100;
  private static final long LONGEST_WAIT_MS = 2000;

  private final Admin admin;
  private final KafkaSettings settings;
  private Set<String> eventTopics;
  private boolean isFull;
  private Uuid lastId;
  private long askedNs = System.nanoTime() - ASK_AGAIN_NS - 1;
  private boolean isAsking;
  private final Map<String, String> ensured = new ConcurrentHashMap<>();

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
    Set<String> missing = new TreeSet<>(wanted);
    missing.removeAll(admin.listTopics().names().get(TIMEOUT_S, TimeUnit.SECONDS));
    return missing;
  }

  /**
   * Creates the topic if it does not exist, and returns its name; null if it is an event topic and there are too many.
   * The broker's defaults apply, except that readers rely on the number of partitions: a batch topic gets as many as
   * the input topic, an event topic the configured number. Batch topics use broker timestamps, as the input does. Kafka
   * refuses a name that differs from an existing one only in dots and underscores; then the name includes the hash of
   * the wanted name.
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
    int partitions = kind == Destination.Kind.DERIVED ? partitions() : settings.eventPartitions();
    Map<String, String> config =
        kind == Destination.Kind.DERIVED
            ? Map.of(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, LOG_APPEND_TIME)
            : Map.of();
    String made = isMade(topic, partitions, config) ? topic : Destination.hashed(topic);
    if (!made.equals(topic) && !isMade(made, partitions, config)) {
      throw new KafkaException("the broker refuses the topic names " + topic + " and " + made);
    }
    ensured.put(topic, made);
    return made;
  }

  /** Limits event topics: emitters define types freely, and each topic costs the broker partitions permanently. */
  private synchronized boolean mayBeMade(String topic) {
    if (eventTopics == null) {
      try {
        eventTopics = new HashSet<>(admin.listTopics().names().get(TIMEOUT_S, TimeUnit.SECONDS));
        eventTopics.removeIf(name -> !name.startsWith(settings.eventsPrefix()));
      } catch (ExecutionException | TimeoutException e) {
        throw new KafkaException("the topics cannot be listed", e);
      } catch (InterruptedException e) {
        throw interrupted(e);
      }
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
  private boolean isMade(String topic, int partitions, Map<String, String> config) {
    NewTopic wanted = new NewTopic(topic, Optional.of(partitions), Optional.empty()).configs(config);
    try {
      admin.createTopics(List.of(wanted)).all().get(TIMEOUT_S, TimeUnit.SECONDS);
      return true;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof InvalidTopicException) {
        return false;
      }
      if (e.getCause() instanceof TopicExistsException) {
        return true;
      }
      throw new KafkaException("topic " + topic + " cannot be made: " + e.getCause().getMessage(), e.getCause());
    } catch (TimeoutException e) {
      throw new KafkaException("topic " + topic + " was not made within " + TIMEOUT_S + " seconds", e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /** Returns the number of partitions of the batch topic. */
  int partitions() {
    try {
      return batchesDescribed().get(TIMEOUT_S, TimeUnit.SECONDS).partitions().size();
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

  /** Returns the first offset that retention has left in a partition of the batch topic. */
  long logStart(int partition) {
    TopicPartition batches = new TopicPartition(settings.batches(), partition);
    try {
      return admin
          .listOffsets(Map.of(batches, OffsetSpec.earliest()), new ListOffsetsOptions())
          .partitionResult(batches)
          .get(TIMEOUT_S, TimeUnit.SECONDS)
          .offset();
    } catch (ExecutionException | TimeoutException e) {
      throw new KafkaException("the start of " + batches + " cannot be found", e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
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
