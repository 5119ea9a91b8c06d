package io.lifeline.jobs.jetstream;

import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.KeyValue;
import io.nats.client.PurgeOptions;
import java.io.IOException;

/** What the client's view of a bucket cannot do. */
final class Buckets {

  private Buckets() {}

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
