package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.Upserts;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.nats.client.IterableConsumer;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamStatusCheckedException;
import io.nats.client.Message;
import io.nats.client.StreamContext;
import io.nats.client.api.OrderedConsumerConfiguration;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/** Reads upserts from the output stream. */
public final class JetStreamUpserts implements Upserts {

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final JobConfig config;
  private final NatsSettings nats;

  public JetStreamUpserts(JobConfig config) {
    this.config = config;
    this.nats = new NatsSettings(config);
  }

  @Override
  public Map<String, byte[]> latest(Destination destination) throws HostException {
    String subject = destination.topic(config.get(Keys.NAMES_PREFIX));
    try (Broker broker = Broker.connect(nats)) {
      StreamContext stream = broker.connection().getStreamContext(nats.outputStream());
      return stream.getStreamInfo().getStreamState().getMsgCount() == 0 ? Map.of() : read(stream, subject);
    } catch (IOException | JetStreamApiException | JetStreamStatusCheckedException e) {
      throw new HostException("cannot read " + subject + ": " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HostException("interrupted while reading " + subject, e);
    }
  }

  private static Map<String, byte[]> read(StreamContext stream, String subject)
      throws IOException, JetStreamApiException, JetStreamStatusCheckedException, InterruptedException, HostException {
    Map<String, byte[]> latest = new TreeMap<>();
    var context = stream.createOrderedConsumer(new OrderedConsumerConfiguration().filterSubject(subject));
    IterableConsumer consumer = context.iterate();
    long pending = consumer.getConsumerInfo().getCalculatedPending();
    while (pending > 0) {
      Message message = consumer.nextMessage(PATIENCE);
      if (message == null) {
        throw new HostException("the broker stopped sending " + subject);
      }
      String key = message.hasHeaders() ? message.getHeaders().getFirst(Publisher.KEY_HEADER) : null;
      if (key != null) { // others may publish here, too
        latest.put(key, message.getData());
      }
      pending = message.metaData().pendingCount();
    }
    consumer.stop();
    return latest;
  }
}
