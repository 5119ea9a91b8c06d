package io.lifeline.jobs.jetstream;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Output;
import io.nats.client.JetStream;
import io.nats.client.Message;
import io.nats.client.api.PublishAck;
import io.nats.client.impl.Headers;
import io.nats.client.impl.NatsMessage;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Publishes a task's results. Messages whose content depends only on the input are sent at once; the others are
 * collected until the checkpoint that holds them is written. Used by one thread.
 */
final class Publisher implements Output {

  /** Synchronous publishing reaches about 1,000 messages a second; up to this many may be in flight. */
  private static final int MAX_IN_FLIGHT = 512;

  private static final long ACK_TIMEOUT_S = 10;
  /** Header that holds the key of an upsert; a NATS message has no key. */
  static final String KEY_HEADER = "Lifeline-Key";

  private final JetStream jetStream;
  private final String prefix;
  private final String numbering;
  private final ArrayDeque<CompletableFuture<PublishAck>> inFlight = new ArrayDeque<>();
  private List<OutgoingMessage> outbox = new ArrayList<>();
  private IOException failure;

  /**
   * @param prefix prefix of the subjects
   * @param numbering identifies the checkpoints from which revisions are counted: the bucket, see {@link Buckets#life},
   *     and the task, whose name tells one number of groups from another
   */
  Publisher(JetStream jetStream, String prefix, String numbering) {
    this.jetStream = jetStream;
    this.prefix = prefix;
    this.numbering = numbering;
  }

  @Override
  public void send(Destination to, String key, String id, byte[] value) {
    OutgoingMessage message = new OutgoingMessage(subject(to, key), key, messageId(to, id), value);
    if (to.kind().revised()) {
      outbox.add(message);
    } else {
      publish(message);
    }
  }

  /** Returns the subject; batches are spread over subjects by emitter, as emitters do (FORMAT.md, section 12). */
  private String subject(Destination to, String key) {
    String topic = to.topic(prefix);
    return to.kind() == Destination.Kind.DERIVED ? topic + "." + NatsSettings.subject(Incarnation.parse(key)) : topic;
  }

  /**
   * Returns the message ID. A stream drops duplicates by ID alone, regardless of the subject. Results under another
   * prefix, and revisions counted from new checkpoints, are not duplicates and so get IDs of their own. IDs of batches
   * are unique already, and readers expect them unchanged.
   */
  private String messageId(Destination to, String id) {
    if (to.kind() == Destination.Kind.DERIVED) {
      return id;
    }
    return prefix + ":" + (to.kind().revised() ? numbering + ":" : "") + id;
  }

  boolean hasOutbox() {
    return !outbox.isEmpty();
  }

  /** Returns the collected messages for the checkpoint and empties the outbox. */
  List<OutgoingMessage> takeOutbox() {
    List<OutgoingMessage> taken = outbox;
    outbox = new ArrayList<>();
    return taken;
  }

  /** Sends the outbox of a written checkpoint. */
  void publishAll(List<OutgoingMessage> messages) {
    messages.forEach(this::publish);
  }

  /** Waits until the stream has acknowledged all messages; throws as soon as one has failed. */
  void awaitAcknowledgements() throws IOException {
    while (!inFlight.isEmpty() && failure == null) {
      awaitOldest();
    }
    if (failure != null) {
      throw failure;
    }
  }

  private void publish(OutgoingMessage message) {
    if (failure != null) {
      return;
    }
    Headers headers = new Headers().put("Nats-Msg-Id", message.id()).put(KEY_HEADER, message.key());
    Message outgoing =
        NatsMessage.builder().subject(message.subject()).headers(headers).data(message.value()).build();
    if (inFlight.size() >= MAX_IN_FLIGHT) {
      awaitOldest();
    }
    inFlight.add(jetStream.publishAsync(outgoing));
  }

  /** Keeps failures for {@link #awaitAcknowledgements}, because {@link Output} cannot report them. */
  private void awaitOldest() {
    try {
      inFlight.remove().get(ACK_TIMEOUT_S, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failure = new InterruptedIOException("interrupted while waiting for the broker");
    } catch (ExecutionException e) {
      failure = new IOException("the broker rejected a result: " + e.getCause().getMessage(), e.getCause());
    } catch (TimeoutException e) {
      failure = new IOException("the broker did not acknowledge a result within " + ACK_TIMEOUT_S + " s");
    }
  }
}
