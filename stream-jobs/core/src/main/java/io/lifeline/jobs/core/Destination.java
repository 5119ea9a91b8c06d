package io.lifeline.jobs.core;

import io.lifeline.codec.Fnv1a;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Objects;

/**
 * Destination of a message, independent of the broker's naming rules.
 *
 * @param kind the family of topics
 * @param name the event type for {@link Kind#EVENTS}, the stream for {@link Kind#DERIVED}, else null
 */
public record Destination(Kind kind, String name) {

  /** The families of topics that jobs write to. */
  public enum Kind {
    /** Decoded events, one topic per type. Their ids and contents depend only on the input. */
    EVENTS(false),
    /** Batches derived from other batches, one topic per stream. Their ids and contents depend only on the input. */
    DERIVED(false),
    /** Rejected batches. Their ids and contents depend only on the input. */
    REJECTED(false),
    /** Window revisions; their contents depend on the time of publication. */
    SUMMARIES(true),
    /** Partial summaries of groups of emitters, sent between the two stages of a job. */
    PARTIALS(true),
    /** Balances of emitters; their contents depend on the time of publication. */
    LEDGER(true),
    /** Raised and cleared alerts; they depend on the time of detection. */
    ALERTS(true);

    private final boolean revised;

    Kind(boolean revised) {
      this.revised = revised;
    }

    /**
     * Returns whether the content under one id depends on the time of publication. A host without transactions must
     * then include the message in its checkpoint before sending it: otherwise a repeat after a crash could differ.
     */
    public boolean revised() {
      return revised;
    }
  }

  /** Kafka's limit; that of NATS is far higher. */
  private static final int MAX_TOPIC_LENGTH = 249;

  /** Separates the prefix from the name of a derived stream. */
  public static final String DERIVED = ".derived.";

  public static final Destination REJECTED = new Destination(Kind.REJECTED, null);
  public static final Destination SUMMARIES = new Destination(Kind.SUMMARIES, null);
  public static final Destination PARTIALS = new Destination(Kind.PARTIALS, null);
  public static final Destination LEDGER = new Destination(Kind.LEDGER, null);
  public static final Destination ALERTS = new Destination(Kind.ALERTS, null);

  public Destination {
    Objects.requireNonNull(kind, "kind");
    if ((kind == Kind.EVENTS || kind == Kind.DERIVED) != (name != null)) {
      throw new IllegalArgumentException("a name goes with EVENTS and DERIVED and with nothing else");
    }
  }

  public static Destination events(String eventType) {
    return new Destination(Kind.EVENTS, eventType);
  }

  public static Destination derived(String stream) {
    return new Destination(Kind.DERIVED, stream);
  }

  /** Returns the topic or subject, for example {@code lifeline.events.disk.read.end}. */
  public String topic(String prefix) {
    return switch (kind) {
      case EVENTS -> shortened(prefix + ".events." + topicToken(name));
      case DERIVED -> shortened(prefix + DERIVED + topicToken(name));
      case REJECTED -> prefix + ".rejected";
      case SUMMARIES -> prefix + ".summaries";
      case PARTIALS -> prefix + ".partials";
      case LEDGER -> prefix + ".ledger";
      case ALERTS -> prefix + ".alerts";
    };
  }

  private static String shortened(String topic) {
    return topic.length() <= MAX_TOPIC_LENGTH ? topic : hashed(topic);
  }

  /** Returns the topic's name, truncated if necessary, with its hash appended. */
  public static String hashed(String topic) {
    String hash = HexFormat.of().toHexDigits(Fnv1a.hash(topic.getBytes(StandardCharsets.UTF_8)));
    return topic.substring(0, Math.min(topic.length(), MAX_TOPIC_LENGTH - hash.length() - 1)) + "-" + hash;
  }

  /** Event types may be any text. Both brokers allow these characters; NATS forbids empty tokens between dots. */
  private static String topicToken(String name) {
    String token = name.replaceAll("[^A-Za-z0-9._-]", "_");
    return token.replaceAll("(?<=^|\\.)(?=\\.|$)", "_");
  }
}
