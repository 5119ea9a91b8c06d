package io.lifeline.jobs.core;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Records the messages that a job produces. */
public final class Recorder implements Output {

  /** One produced message. */
  public record Sent(Destination to, String key, String id, byte[] bytes) {
    public String value() {
      return new String(bytes, StandardCharsets.UTF_8);
    }
  }

  private final List<Sent> messages = new ArrayList<>();

  @Override
  public void send(Destination to, String key, String id, byte[] value) {
    messages.add(new Sent(to, key, id, value));
  }

  public List<Sent> messages() {
    return messages;
  }

  /** Returns the messages produced since the last call. */
  public List<Sent> take() {
    List<Sent> taken = List.copyOf(messages);
    messages.clear();
    return taken;
  }
}
