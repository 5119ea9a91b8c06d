package io.lifeline.jobs.core;

/**
 * Takes the messages that jobs produce. The host decides when they leave:
 *
 * <ol>
 *   <li>Kafka Streams forwards them within the transaction of the input.
 *   <li>JetStream sends them with the id as {@code Nats-Msg-Id}, behind the prefix of its names if it is no batch's;
 *       those of a {@linkplain Destination.Kind#revised() revised} kind only once the checkpoint that holds them is
 *       written.
 * </ol>
 *
 * <p>A repeat therefore has the id and the content of the first. Called by the thread that runs the job;
 * implementations do not block for longer than their bound on messages in flight asks for.
 */
@FunctionalInterface
public interface Output {

  /**
   * @param to what the message is
   * @param key Kafka key: messages with equal keys keep their order, and upserts replace by it
   * @param id unique per message, equal for its repeats
   * @param value a batch to a {@linkplain Destination.Kind#DERIVED derived stream}, else UTF-8 JSON; not to be changed
   *     by the caller afterwards
   */
  void send(Destination to, String key, String id, byte[] value);
}
