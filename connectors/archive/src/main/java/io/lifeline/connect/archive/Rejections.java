package io.lifeline.connect.archive;

import io.lifeline.jobs.core.Rejection;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.sink.ErrantRecordReporter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTaskContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands a record that is no legal batch, or contradicts an earlier one, to Connect: to the dead letter queue if there
 * is one. Without tolerance it fails the task, before the archive has gone past the record.
 */
final class Rejections {

  private static final Logger LOG = LoggerFactory.getLogger(Rejections.class);
  private static final long TIMEOUT_S = 60;

  /** Null when the connector has neither a dead letter queue nor a log of errors. */
  private final ErrantRecordReporter reporter;

  private final boolean tolerant;

  Rejections(SinkTaskContext context, boolean tolerant) {
    this.reporter = context.errantRecordReporter();
    this.tolerant = tolerant;
  }

  /**
   * Returns once the record is where it can be found again.
   *
   * @throws RetriableException if the dead letter queue does not take it now
   * @throws ConnectException if rejected records are not tolerated
   */
  void report(SinkRecord rejected, Rejection rejection) {
    DataException error = new DataException(describe(rejected, rejection));
    if (reporter != null) {
      report(rejected, error);
    } else if (tolerant) {
      LOG.warn("passed by: {}", error.getMessage());
    } else {
      throw error;
    }
  }

  private void report(SinkRecord rejected, DataException error) {
    try {
      reporter.report(rejected, error).get(TIMEOUT_S, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new RetriableException(
          "a rejected record does not reach the dead letter queue: " + e.getCause().getMessage(), e);
    } catch (TimeoutException e) {
      throw new RetriableException(
          "a rejected record did not reach the dead letter queue within " + TIMEOUT_S + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ConnectException("interrupted while a rejected record was reported", e);
    }
  }

  /** Code, place and a sentence; never the record's content, which nobody has checked. */
  private static String describe(SinkRecord rejected, Rejection rejection) {
    String batch = rejection.batch() == null ? "" : " (batch " + rejection.batch() + ")";
    return rejected.originalTopic() + "-" + rejected.originalKafkaPartition() + " at offset "
        + rejected.originalKafkaOffset() + ": " + rejection.code() + " at byte " + rejection.offsetInMessage() + ": "
        + rejection.message() + batch;
  }
}
