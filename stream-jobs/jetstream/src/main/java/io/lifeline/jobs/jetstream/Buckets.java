package io.lifeline.jobs.jetstream;

import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.KeyValue;
import io.nats.client.PurgeOptions;
import io.nats.client.api.KeyValueEntry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/** Bucket operations that the client's {@link KeyValue} lacks. */
final class Buckets {

  private Buckets() {}

  private static final String LIFE = "life";

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
    String name = bucket.getBucketName();
    management.purgeStream("KV_" + name, PurgeOptions.subject("$KV." + name + "." + keys));
  }
}
