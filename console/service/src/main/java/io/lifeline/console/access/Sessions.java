package io.lifeline.console.access;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Who signed in on the page; lost at the end of the process, after which people sign in again. */
final class Sessions {
  private static final Duration LONGEST = Duration.ofHours(12);
  private static final int MOST = 10_000;
  /** Of one token, whose further logins end its oldest ones, and not those of others. */
  private static final int MOST_PER_TOKEN = 50;

  private final Clock clock;
  /** By the hash of the session's id, in the order of signing in. */
  private final Map<String, Session> sessions = new LinkedHashMap<>();

  Sessions(Clock clock) {
    this.clock = clock;
  }

  /** Somebody who is signed in. */
  record Session(String tokenHash, Instant until) {}

  /** @return the session's id, a secret */
  synchronized String begin(String tokenHash, Instant tokenUntil) {
    Instant now = clock.instant();
    sessions.values().removeIf(session -> !now.isBefore(session.until()));
    List<String> same = sessions.entrySet().stream().filter(one -> one.getValue().tokenHash().equals(tokenHash))
        .map(Map.Entry::getKey).toList();
    if (same.size() >= MOST_PER_TOKEN) {
      sessions.remove(same.get(0));
    } else if (sessions.size() >= MOST) {
      sessions.remove(sessions.keySet().iterator().next());
    }
    String id = Secret.create();
    Instant longest = now.plus(LONGEST);
    sessions.put(Secret.hash(id), new Session(tokenHash, tokenUntil.isBefore(longest) ? tokenUntil : longest));
    return id;
  }

  /** Returns the session with an id; null if there is none any more. */
  synchronized Session find(String id) {
    Session session = sessions.get(Secret.hash(id));
    return session == null || !clock.instant().isBefore(session.until()) ? null : session;
  }

  synchronized void end(String id) {
    sessions.remove(Secret.hash(id));
  }
}
