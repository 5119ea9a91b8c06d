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
 * Reports an invalid or conflicting record to Connect's dead letter queue, if any. Without tolerance it fails the task
 * before the archive moves past the record.
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
   * Returns when the record is stored in the dead letter queue.
   *
   * @throws RetriableException if writing to the dead letter queue fails
   * @throws ConnectException if rejected records are not tolerated
   */
  void report(SinkRecord rejected, Rejection rejection) {
    DataException error = new DataException(describe(rejected, rejection));
    if (reporter != null) {
      report(rejected, error);
    } else if (tolerant) {
      LOG.warn("record skipped: {}", error.getMessage());
    } else {
      throw error;
    }
  }

  private void report(SinkRecord rejected, DataException error) {
    try {
      reporter.report(rejected, error).get(TIMEOUT_S, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new RetriableException(
          "cannot write a rejected record to the dead letter queue: " + e.getCause().getMessage(), e);
    } catch (TimeoutException e) {
      throw new RetriableException(
          "writing a rejected record to the dead letter queue timed out after " + TIMEOUT_S + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ConnectException("interrupted while a rejected record was reported", e);
    }
  }

  /** Code, position and reason; never the record's unchecked content. */
  private static String describe(SinkRecord rejected, Rejection rejection) {
    String batch = rejection.batch() == null ? "" : " (batch " + rejection.batch() + ")";
    return rejected.originalTopic() + "-" + rejected.originalKafkaPartition() + " at offset "
        + rejected.originalKafkaOffset() + ": " + rejection.code() + " at byte " + rejection.offsetInMessage() + ": "
        + rejection.message() + batch;
  }
}
