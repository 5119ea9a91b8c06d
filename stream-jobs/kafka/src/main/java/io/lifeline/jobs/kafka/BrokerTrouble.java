package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.JobHost.HostException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.SslAuthenticationException;

/** Explains in one sentence why a client cannot use its broker, and the remedy. */
final class BrokerTrouble {

  private BrokerTrouble() {}

  static HostException explain(String url, Throwable reason) {
    return new HostException(url + sentence(reason), reason);
  }

  /** Searches the causes, because the client wraps the actual error once or twice. */
  private static String sentence(Throwable reason) {
    for (Throwable cause = reason; cause != null; cause = cause.getCause()) {
      String remedy = remedy(cause);
      if (remedy != null) {
        return remedy;
      }
    }
    return ": " + root(reason);
  }

  private static String remedy(Throwable cause) {
    if (cause instanceof SslAuthenticationException) {
      return ": " + root(cause) + ": check broker.tls.ca, and broker.tls.cert and .key if the broker requires them";
    }
    if (cause instanceof AuthenticationException) {
      return ": " + cause.getMessage() + ": check broker.user and broker.password.file";
    }
    if (cause instanceof AuthorizationException) {
      return ": " + cause.getMessage() + ": the user lacks this permission on the broker";
    }
    if (cause instanceof TimeoutException || cause instanceof org.apache.kafka.common.errors.TimeoutException) {
      return " does not answer: check that it is running, broker.url, and that both sides agree on TLS and passwords";
    }
    return null;
  }

  /** Returns the message of the root cause. */
  private static String root(Throwable reason) {
    Throwable root = reason;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    String message = root.getMessage();
    return message == null ? root.toString() : message;
  }
}
