package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.lifeline.jobs.core.live.LiveMessages;
import io.lifeline.jobs.core.live.LiveStart;
import io.nats.client.Connection.Status;
import io.nats.client.IterableConsumer;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamStatusCheckedException;
import io.nats.client.api.DeliverPolicy;
import io.nats.client.api.OrderedConsumerConfiguration;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;

/** Reads a stream without a position of its own. */
public final class JetStreamLive implements LiveMessages {
  private static final Duration LOOK_UP = Duration.ofSeconds(5);

  private final NatsSettings nats;
  private final LiveStart start;
  private final String name;
  private final String[] subjects;
  private Broker broker;
  private BatchStream stream;
  private Instant made = StreamBounds.UNKNOWN;
  /** 0 until the first message's is known. */
  private long nextSequence;
  /** Of the stream when reading began. */
  private long lastSequence = Long.MAX_VALUE;
  private boolean isCaughtUp;
  /** Broker time of the message before; 0 if unknown. */
  private long lastTimeMs;
  private volatile String trouble;

  private JetStreamLive(NatsSettings nats, LiveStart start, String name, String... subjects) {
    this.nats = nats;
    this.start = start;
    this.name = name;
    this.subjects = subjects;
  }

  public static JetStreamLive batches(JobConfig config, LiveStart start) {
    NatsSettings nats = new NatsSettings(config);
    return new JetStreamLive(nats, start, nats.stream(), nats.subjects(0, 1));
  }

  public static JetStreamLive published(JobConfig config, LiveStart start, Destination destination) {
    NatsSettings nats = new NatsSettings(config);
    return new JetStreamLive(nats, start, nats.outputStream(), destination.topic(config.get(Keys.NAMES_PREFIX)));
  }

  @Override
  public Message next(Duration timeout) throws InterruptedException {
    try {
      if (stream == null) {
        open();
      }
      BatchStream.Received received = stream.next(timeout);
      Status status = broker.connection().getStatus();
      if (status == Status.CLOSED) { // for good, after repeated authentication errors: connect with new credentials
        throw new IOException(nats.shownUrl() + " ended the connection: " + broker.connection().getLastError());
      }
      boolean connected = status == Status.CONNECTED;
      trouble = connected ? null : nats.shownUrl() + " does not answer";
      if (received == null) {
        isCaughtUp = isCaughtUp || connected && stream.isAtEnd();
        return null;
      }
      nextSequence = received.position().offset() + 1;
      isCaughtUp = isCaughtUp || nextSequence > lastSequence || received.behind() == 0;
      lastTimeMs = received.position().brokerTimeMs();
      return new Message(received.data(), received.position().brokerTimeMs(), received.behind());
    } catch (IOException | JetStreamApiException | HostException | IllegalStateException e) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (e instanceof TruncatedStreamException) {
        made = Instant.MAX; // read the stream as one that was recreated
      }
      trouble = e.getMessage();
      close();
      Thread.sleep(timeout.toMillis());
      return null;
    }
  }

  private void open() throws HostException, IOException, JetStreamApiException, InterruptedException {
    if (!nats.isListening()) {
      throw new IOException("cannot connect to " + nats.shownUrl() + ": is the broker running?");
    }
    broker = Broker.connectTo(nats, name);
    StreamBounds bounds = StreamBounds.of(broker.batches());
    if (!bounds.made().equals(made) || nextSequence < bounds.first() || nextSequence > bounds.last() + 1) {
      // The first time; or the stream was made anew, or has forgotten what comes next.
      boolean isFirst = made.equals(StreamBounds.UNKNOWN);
      made = bounds.made();
      lastSequence = isFirst ? bounds.last() : lastSequence;
      nextSequence = isFirst ? first(bounds) : bounds.first();
      lastTimeMs = 0;
    }
    stream = BatchStream.open(broker, broker.batches(), made, subjects, nextSequence, lastTimeMs);
  }

  /** Returns the sequence of the first message to read. */
  private long first(StreamBounds bounds) throws IOException, JetStreamApiException, InterruptedException {
    if (start.isNow() || bounds.last() < bounds.first()) {
      return bounds.last() + 1;
    }
    OrderedConsumerConfiguration configuration = new OrderedConsumerConfiguration()
        .deliverPolicy(DeliverPolicy.ByStartTime)
        .startTime(Instant.ofEpochMilli(start.sinceMs()).atZone(ZoneOffset.UTC))
        .headersOnly(true);
    try (IterableConsumer consumer = broker.batches().createOrderedConsumer(configuration).iterate()) {
      if (consumer.getConsumerInfo().getCalculatedPending() == 0) {
        return bounds.last() + 1;
      }
      io.nats.client.Message message = consumer.nextMessage(LOOK_UP);
      if (message == null) {
        throw new IOException("the broker does not say which message is the first one since "
            + Instant.ofEpochMilli(start.sinceMs()));
      }
      return message.metaData().streamSequence();
    } catch (JetStreamStatusCheckedException e) {
      throw new IOException(e.getMessage(), e);
    } catch (IOException | JetStreamApiException | InterruptedException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException("cannot look up the first message: " + e.getMessage(), e);
    }
  }

  @Override
  public String trouble() {
    return trouble;
  }

  @Override
  public boolean isCaughtUp() {
    return isCaughtUp;
  }

  @Override
  public void close() {
    if (stream != null) {
      stream.close();
      stream = null;
    }
    if (broker != null) {
      broker.close();
      broker = null;
    }
  }
}
