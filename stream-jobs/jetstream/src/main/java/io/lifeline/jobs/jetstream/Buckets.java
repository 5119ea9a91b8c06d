package io.lifeline.jobs.jetstream;

import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.KeyValue;
import io.nats.client.PurgeOptions;
import io.nats.client.api.KeyValueEntry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/** What the client's view of a bucket cannot do. */
final class Buckets {

  private Buckets() {}

  private static final String LIFE = "life";

  /**
   * A random text that stays the same as long as the bucket is there. Whoever removes it lets all jobs start over, and
   * what they number begins again: this tells it from what was numbered before.
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
   * Removes keys without a trace: a purge of the bucket's stream leaves nothing behind, where a purge of a key would
   * leave a marker for ever.
   *
   * @param keys a key, or a pattern of keys
   */
  static void erase(KeyValue bucket, JetStreamManagement management, String keys)
      throws IOException, JetStreamApiException {
    String name = bucket.getBucketName();
    management.purgeStream("KV_" + name, PurgeOptions.subject("$KV." + name + "." + keys));
  }
}
