package io.lifeline.jobs.jetstream;

import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.KeyValue;
import io.nats.client.Message;
import io.nats.client.PurgeOptions;
import io.nats.client.api.KeyValueEntry;
import io.nats.client.api.KeyValueOperation;
import io.nats.client.api.MessageGetRequest;
import io.nats.client.api.MessageInfo;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;

/** Bucket operations that the client's {@link KeyValue} lacks. */
final class Buckets {

  private Buckets() {}

  private static final String LIFE = "life";
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final int NO_MESSAGE_FOUND = 10037;

  /**
   * Returns a random ID that lasts as long as the bucket. When the bucket is removed, all jobs start over and reuse
   * their sequence numbers; this ID tells the new numbers from the old ones.
   */
  static String life(KeyValue bucket) throws IOException, JetStreamApiException {
    KeyValueEntry known = bucket.get(LIFE);
    if (known != null) {
      return known.getValueAsString();
    }
    String made = UUID.randomUUID().toString();
    try {
      bucket.create(LIFE, made.getBytes(StandardCharsets.UTF_8));
      return made;
    } catch (JetStreamApiException e) {
      if (Conflicts.isConflict(e)) {
        return bucket.get(LIFE).getValueAsString();
      }
      throw e;
    }
  }

  /**
   * Removes keys completely by purging them from the bucket's stream; purging a key would leave a marker forever.
   *
   * @param keys a key or a key pattern
   */
  static void erase(KeyValue bucket, JetStreamManagement management, String keys)
      throws IOException, JetStreamApiException {
    management.purgeStream(stream(bucket), PurgeOptions.subject(subject(bucket, keys)));
  }

  /**
   * Returns the newest entry that the stream's leader has; null if there is none. {@link KeyValue#get} may ask any
   * replica, and one that is behind does not have it.
   *
   * @param keys a key or a key pattern
   */
  static KeyValueEntry newest(KeyValue bucket, Connection connection, String keys)
      throws IOException, JetStreamApiException {
    byte[] question = MessageGetRequest.lastForSubject(subject(bucket, keys)).serialize();
    Message answer = request(connection, "$JS.API.STREAM.MSG.GET." + stream(bucket), question);
    MessageInfo found = new MessageInfo(answer, stream(bucket), false);
    if (found.getApiErrorCode() == NO_MESSAGE_FOUND) {
      return null;
    }
    KeyValueEntry entry = new KeyValueEntry(found.throwOnHasError());
    return entry.getOperation() == KeyValueOperation.PUT ? entry : null;
  }

  private static Message request(Connection connection, String subject, byte[] question) throws IOException {
    try {
      Message answer = connection.request(subject, question, TIMEOUT);
      if (answer == null) {
        throw new IOException("the broker did not answer " + subject + " within " + TIMEOUT.toSeconds() + " s");
      }
      return answer;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for the broker");
    }
  }

  /** Returns the maximum size of a value, with its headers, where that of messages is {@code maxMessageBytes}. */
  static long maxValueBytes(KeyValue bucket, JetStreamManagement management, long maxMessageBytes)
      throws IOException, JetStreamApiException {
    long ofBucket = management.getStreamInfo(stream(bucket)).getConfiguration().getMaximumMessageSize();
    return ofBucket > 0 ? Math.min(ofBucket, maxMessageBytes) : maxMessageBytes;
  }

  static String subject(KeyValue bucket, String keys) {
    return "$KV." + bucket.getBucketName() + "." + keys;
  }

  private static String stream(KeyValue bucket) {
    return "KV_" + bucket.getBucketName();
  }
}
