package io.lifeline.jobs.core;

/**
 * Receives the messages that jobs produce. The host decides when to send them:
 *
 * <ol>
 *   <li>Kafka Streams forwards them within the transaction of the input.
 *   <li>JetStream sends them with the id as {@code Nats-Msg-Id}, prefixed with {@code names.prefix} unless the message
 *       is a batch. Messages of a {@linkplain Destination.Kind#revised() revised} kind are sent only after the
 *       checkpoint that holds them is written.
 * </ol>
 *
 * <p>A repeat therefore has the same id and content as the first message. Called by the thread that runs the job;
 * implementations block only while too many messages are in flight.
 */
@FunctionalInterface
public interface Output {

  /**
   * @param to the message's destination
   * @param key Kafka key: messages with equal keys keep their order, and an upsert replaces the key's previous value
   * @param id unique per message, equal for its repeats
   * @param value a batch for a {@linkplain Destination.Kind#DERIVED derived stream}, binary for {@link
   *     Destination.Kind#PARTIALS}, else UTF-8 JSON; the caller must not change it afterwards
   */
  void send(Destination to, String key, String id, byte[] value);
}
