package io.lifeline.connect.nats;

import io.lifeline.nats.ConnectionLog;
import io.nats.client.AuthenticationException;
import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.JetStreamOptions;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.util.List;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.Config;
import org.apache.kafka.common.config.ConfigValue;

/** Tests the settings against the broker before a connector is created, and reports errors per setting. */
final class BrokerCheck {

  /** A request to a connected broker. */
  private interface Question {
    void ask(JetStreamManagement management) throws IOException, JetStreamApiException;
  }

  private static final int NOT_FOUND = 404;

  private final AbstractConfig settings;
  private final Config result;

  private BrokerCheck(AbstractConfig settings, Config result) {
    this.settings = settings;
    this.result = result;
  }

  static BrokerCheck of(AbstractConfig settings, Config result) {
    return new BrokerCheck(settings, result);
  }

  /** Checks that the stream exists, can be read by offsets, and has matching subjects. */
  void stream(String stream, List<String> filters) {
    ask(
        SourceConfig.STREAM,
        management -> {
          StreamConfiguration configuration = management.getStreamInfo(stream).getConfiguration();
          if (!SubjectCursor.isReadByOffset(configuration)) {
            fault(SourceConfig.STREAM, SubjectCursor.notReadByOffset(configuration));
          }
          List<String> subjects = configuration.getSubjects();
          for (String filter : filters) {
            // A mirror has no subjects of its own.
            if (!subjects.isEmpty() && subjects.stream().noneMatch(subject -> Subjects.overlap(subject, filter))) {
              fault(SourceConfig.SUBJECTS, "stream " + stream + " holds no subject that matches " + filter);
            }
          }
        });
  }

  /** Checks that a stream stores messages of the subject. */
  void subject(String subject) {
    ask(
        SinkConfig.SUBJECT,
        management -> {
          if (management.getStreamNames(subject).isEmpty()) {
            fault(SinkConfig.SUBJECT, "no stream stores messages of subject " + subject);
          }
        });
  }

  /** Checks only that the broker is reachable and has JetStream. */
  void reach() {
    ask(ConnectionConfig.URL, JetStreamManagement::getAccountStatistics);
  }

  private void ask(String about, Question question) {
    ConnectionLog log = new ConnectionLog();
    Options options;
    String domain;
    try {
      options = ConnectionConfig.settings(settings, "kafka-connect validation", System.getenv()).options(log);
      domain = ConnectionConfig.domain(settings, System.getenv());
    } catch (IllegalArgumentException e) {
      fault(settings.getString(ConnectionConfig.CONTEXT) == null ? ConnectionConfig.URL : ConnectionConfig.CONTEXT,
          e.getMessage());
      return;
    }
    try (Connection connection = Nats.connect(options)) {
      question.ask(connection.jetStreamManagement(JetStreamOptions.builder().domain(domain).build()));
    } catch (AuthenticationException e) {
      fault(credentials(), "the broker rejected the credentials: " + e.getMessage());
    } catch (JetStreamApiException e) {
      fault(about, e.getErrorCode() == NOT_FOUND ? "the broker has no such stream" : e.getMessage());
    } catch (IOException e) {
      String cause = log.cause().map(tls -> "; TLS: " + tls).orElse("");
      fault(
          cause.isEmpty() ? ConnectionConfig.URL : ConnectionConfig.TLS_CA,
          "cannot use NATS: " + e.getMessage() + cause);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      fault(ConnectionConfig.URL, "interrupted while connecting");
    }
  }

  /** The setting that provides the credentials, if no context does. */
  private String credentials() {
    for (String name : List.of(ConnectionConfig.CREDS, ConnectionConfig.NKEY, ConnectionConfig.USER)) {
      if (settings.getString(name) != null) {
        return name;
      }
    }
    return settings.getPassword(ConnectionConfig.TOKEN) != null ? ConnectionConfig.TOKEN : ConnectionConfig.USER;
  }

  private void fault(String setting, String message) {
    for (ConfigValue value : result.configValues()) {
      if (value.name().equals(setting)) {
        value.addErrorMessage(message);
      }
    }
  }
}
