package io.lifeline.jobs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.core.spi.FilterReply;
import org.junit.jupiter.api.Test;

class RepeatFilterTest {
  private final LoggerContext context = new LoggerContext();
  private final Logger library = context.getLogger("org.apache.kafka.clients.NetworkClient");
  private long nowNs;
  private final RepeatFilter filter = new RepeatFilter(() -> nowNs);

  private FilterReply warn(Logger logger, String format, Object... parameters) {
    return filter.decide(null, logger, Level.WARN, format, parameters, null);
  }

  @Test
  void aLibrarysMessageIsHeardOncePerQuietTimeWhateverItsParameters() {
    assertThat(warn(library, "node {} is away", 1)).isEqualTo(FilterReply.NEUTRAL);
    assertThat(warn(library, "node {} is away", 2)).isEqualTo(FilterReply.DENY);
    nowNs += RepeatFilter.QUIET_NS;
    assertThat(warn(library, "node {} is away", 1)).isEqualTo(FilterReply.NEUTRAL);
  }

  @Test
  void anotherMessageIsHeardAtOnce() {
    warn(library, "node {} is away", 1);
    assertThat(warn(library, "authentication failed")).isEqualTo(FilterReply.NEUTRAL);
  }

  @Test
  void ourOwnMessagesAllPass() {
    Logger ours = context.getLogger("io.lifeline.jobs.kafka.KafkaHost");
    warn(ours, "the archive cannot be written");
    assertThat(warn(ours, "the archive cannot be written")).isEqualTo(FilterReply.NEUTRAL);
  }

  @Test
  void whatIsNotLoggedAnywayDoesNotCount() {
    library.setLevel(Level.ERROR);
    warn(library, "node {} is away", 1);
    library.setLevel(Level.WARN);
    assertThat(warn(library, "node {} is away", 1)).isEqualTo(FilterReply.NEUTRAL);
  }
}
