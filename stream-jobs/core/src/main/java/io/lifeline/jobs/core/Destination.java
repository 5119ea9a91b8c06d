package io.lifeline.jobs.core;

import io.lifeline.codec.Fnv1a;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Objects;

/**
 * What a produced message is, independent of how a broker names the place.
 *
 * @param kind the family of topics
 * @param name the event type's for {@link Kind#EVENTS}, the stream's for {@link Kind#DERIVED}, else null
 */
public record Destination(Kind kind, String name) {

  /** The families of topics that jobs write to. */
  public enum Kind {
    /** Decoded events, one topic per type. Their ids and contents follow from the input alone. */
    EVENTS(false),
    /** Batches made of other batches, a topic per stream. Their ids and contents follow from the input alone. */
    DERIVED(false),
    /** Refused batches. Their ids and contents follow from the input alone. */
    REJECTED(false),
    /** Window revisions: what one holds depends on when it was published. */
    SUMMARIES(true),
    /** Shares of groups of emitters in summaries, on their way from job to job. */
    PARTIALS(true),
    /** Balances of emitters: what one holds depends on when it was published. */
    LEDGER(true),
    /** That something needs attention, and that it does not any more: when that is found depends on the moment. */
    ALERTS(true);

    private final boolean revised;

    Kind(boolean revised) {
      this.revised = revised;
    }

    /**
     * Whether the content under one id depends on the moment of publishing. A host without transactions must then make
     * the message part of its checkpoint before it sends it, or a repeat after a crash could differ from the first.
     */
    public boolean revised() {
      return revised;
    }
  }

  /** Kafka's limit; NATS has none that matters. */
  private static final int MAX_TOPIC_LENGTH = 249;

  /** What stands between the prefix and the name of a derived stream. */
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

  /** The topic or subject under the prefix, for example {@code lifeline.events.disk.read.end}. */
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

  /** Another name for the topic: its own, as far as there is room, with its hash behind. */
  public static String hashed(String topic) {
    String hash = HexFormat.of().toHexDigits(Fnv1a.hash(topic.getBytes(StandardCharsets.UTF_8)));
    return topic.substring(0, Math.min(topic.length(), MAX_TOPIC_LENGTH - hash.length() - 1)) + "-" + hash;
  }

  /** Event types may hold any text; both brokers take these characters, and NATS no empty token between dots. */
  private static String topicToken(String name) {
    String token = name.replaceAll("[^A-Za-z0-9._-]", "_");
    return token.replaceAll("(?<=^|\\.)(?=\\.|$)", "_");
  }
}
