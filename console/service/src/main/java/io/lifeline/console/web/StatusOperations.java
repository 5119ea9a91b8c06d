package io.lifeline.console.web;

import io.lifeline.console.access.Identity;
import io.lifeline.console.access.Login;
import io.lifeline.console.access.Shares;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/** The state of the console: asked for, and as a stream of its changes, which tells the page when to draw anew. */
public final class StatusOperations implements Operations {
  private static final int MOST_CLIENTS = 200;
  private static final int MOST_PER_CALLER = 10;
  private static final long PACE_MS = 500;
  /** Each so many paces without a change, a comment shows that the connection still works. */
  private static final int PACES_OF_SILENCE = 20;

  /** @param error null unless the state is error */
  public record Archive(String location, String state, String error) {}

  public record Broker(String kind, String url, String state, String error) {}

  /**
   * @param done share of the archive that is read, from 0 to 1
   * @param fromNs time of the first event, null if there is none
   * @param skipped events that made room for newer ones
   */
  public record Index(long events, int objects, int types, long limit, boolean loading, double done, String fromNs,
      String toNs, long skipped) {}

  /**
   * Who asks.
   *
   * @param onBehalfOf null if that is the caller
   * @param until when the login ends, as a time of ISO 8601; null for never
   * @param session whether the caller signed in on the page, and so can sign out
   */
  public record User(String name, String role, String onBehalfOf, String until, boolean session) {
    static User of(Login login) {
      Identity who = login.identity();
      return new User(who.name(), who.role().text(), who.onBehalfOf(),
          login.until() == null ? null : login.until().toString(), login.means() == Login.Means.SESSION);
    }
  }

  /** @param user null until somebody asks */
  public record Status(String version, User user, Archive archive, Broker broker, Index index, String now) {
    Status to(User other) {
      return new Status(version, other, archive, broker, index, now);
    }

    boolean differsFrom(Status other) {
      return other == null || !Objects.equals(archive, other.archive) || !Objects.equals(broker, other.broker)
          || !Objects.equals(index, other.index);
    }
  }

  private final Supplier<Status> status;
  private final Shares places = new Shares(MOST_CLIENTS, MOST_PER_CALLER);

  public StatusOperations(Supplier<Status> status) {
    this.status = status;
  }

  @Override
  public List<Operation> all() {
    return List.of(
        Operation.get("/status", "State of archive, broker and index; who asks", Status.class,
            call -> status.get().to(User.of(call.login()))),
        Operation.stream("/stream", "The state, each time that it has changed", this::stream));
  }

  private EventStream stream(Call call) {
    User user = User.of(call.login());
    return new EventStream(places, client -> follow(client, user));
  }

  /** A client has a thread of its own: one that reads slowly delays nobody, and gets the newest state when it reads. */
  private void follow(EventClient client, User user) throws IOException, InterruptedException {
    Status sent = null;
    for (int silent = 0; true; silent++) {
      Status now = status.get();
      if (now.differsFrom(sent)) {
        client.event("status", now.to(user));
        client.send();
        sent = now;
        silent = 0;
      } else if (silent >= PACES_OF_SILENCE) {
        client.stillHere();
        client.send();
        silent = 0;
      }
      Thread.sleep(PACE_MS);
      client.requireLogin();
    }
  }
}
