package io.lifeline.console.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AccessTest {
  private static final Identity ROOT = new Identity("command:root", Role.ADMIN, null, "here", Limits.NONE);
  private static final String HERE = "192.0.2.1";

  @TempDir Path directory;
  private final MovableClock clock = new MovableClock();
  private Tokens tokens;
  private Access access;
  private String secret;

  @BeforeEach
  void withAToken() {
    tokens = new Tokens(directory.resolve("tokens.json"), clock);
    access = Access.withLogin(tokens, null, clock);
    secret = tokens.issue(new TokenRequest("ann", "activate", "Ann Lee", null, null, null,
        clock.instant().plus(Duration.ofHours(20)).toString()), ROOT).secret();
  }

  private static Access.Shown bearer(String token, String from) {
    return new Access.Shown("Bearer " + token, null, null, from);
  }

  private static void refused(int status, String why, ThrowingCallable work) {
    assertThatThrownBy(work).isInstanceOfSatisfying(Refusal.class, e -> assertThat(e.status()).isEqualTo(status))
        .hasMessageContaining(why);
  }

  @Test
  void withoutLoginEveryoneIsLocalAndAdmin() {
    Login login = Access.withoutLogin().login(new Access.Shown(null, null, null, "127.0.0.1"));
    assertThat(login.identity()).isEqualTo(new Identity("local", Role.ADMIN, null, "127.0.0.1", Limits.NONE));
    assertThat(Access.withoutLogin().ended(login)).isNull();
  }

  @Test
  void aTokenSaysWhoCalls() {
    Identity who = access.login(bearer(secret, HERE)).identity();
    assertThat(who.name()).isEqualTo("ann");
    assertThat(who.role()).isEqualTo(Role.ACTIVATE);
    assertThat(who.onBehalfOf()).isEqualTo("Ann Lee");
    assertThat(who.from()).isEqualTo(HERE);
    assertThat(access.login(new Access.Shown("bEARER  " + secret + " ", null, null, HERE)).identity()).isEqualTo(who);
  }

  @Test
  void nothingElseDoes() {
    refused(401, "send a token", () -> access.login(new Access.Shown(null, null, null, HERE)));
    refused(401, "unknown", () -> access.login(bearer(secret + "x", HERE)));
    refused(401, "unknown", () -> access.login(bearer("", HERE)));
    refused(401, "unknown", () -> access.login(bearer(Secret.hash(secret), HERE)));
    refused(401, "unknown", () -> access.login(new Access.Shown("Basic " + secret, null, null, HERE)));
    refused(401, "no longer signed in", () -> access.login(new Access.Shown(null, secret, null, HERE)));
  }

  @Test
  void aTokenExpiresAndSoDoesWhatItOpened() {
    String session = access.signIn(secret, HERE);
    Login byToken = access.login(bearer(secret, HERE));
    Login bySession = access.login(new Access.Shown(null, session, null, HERE));
    clock.move(Duration.ofHours(12).minusMillis(1));
    assertThat(access.ended(bySession)).isNull();
    clock.move(Duration.ofMillis(1));
    assertThat(access.ended(bySession)).as("a session lasts 12 hours").startsWith("the login of ann ended at");
    assertThat(access.ended(byToken)).isNull();
    clock.move(Duration.ofHours(8));
    assertThat(access.ended(byToken)).startsWith("the login of ann ended at");
    refused(401, "the token ann expired at", () -> access.login(bearer(secret, HERE)));
    refused(401, "the token ann expired at", () -> access.signIn(secret, HERE));
  }

  @Test
  void whatIsRevokedOrSignedOutEndsAtOnce() {
    String session = access.signIn(secret, HERE);
    Login bySession = access.login(new Access.Shown(null, session, null, HERE));
    assertThat(bySession.identity().name()).isEqualTo("ann");
    access.signOut(session);
    assertThat(access.ended(bySession)).isEqualTo("ann signed out");
    Login byToken = access.login(bearer(secret, HERE));
    new Tokens(directory.resolve("tokens.json"), clock).revoke("ann");
    assertThat(access.ended(byToken)).isEqualTo("the token ann was revoked");
    refused(401, "unknown: mistyped, expired or revoked", () -> access.login(bearer(secret, HERE)));
  }

  @Test
  void failuresAreLimitedByAddressButNeverLockAValidTokenOut() {
    for (int i = 0; i < FailedLogins.MOST; i++) {
      refused(401, "unknown", () -> access.login(bearer("wrong", "2001:db8::1")));
    }
    assertThatThrownBy(() -> access.login(bearer("wrong", "2001:db8::2"))).as("of the same network")
        .isInstanceOfSatisfying(Refusal.class, e -> {
          assertThat(e.status()).isEqualTo(429);
          assertThat(e.waitSeconds()).isBetween(1L, 61L);
        });
    refused(429, "failed within a minute", () -> access.signIn("wrong", "2001:db8::1"));
    refused(401, "unknown", () -> access.login(bearer("wrong", HERE)));
    assertThat(access.login(bearer(secret, "2001:db8::1")).identity().name()).isEqualTo("ann");
    clock.move(Duration.ofMillis(FailedLogins.WINDOW_MS));
    refused(401, "unknown", () -> access.login(bearer("wrong", "2001:db8::1")));
  }

  @Test
  void sessionsAreBounded() {
    Sessions sessions = new Sessions(clock);
    Instant end = clock.instant().plusSeconds(1);
    String first = sessions.begin("hash", end);
    String last = first;
    for (int i = 0; i < 10_000; i++) {
      last = sessions.begin("hash", end);
    }
    assertThat(sessions.find(first)).isNull();
    assertThat(sessions.find(last).tokenHash()).isEqualTo("hash");
  }

  @Test
  void manyLoginsWithATokenEndNobodyElses() {
    String other = tokens.issue(new TokenRequest("bea", "view", null, null, null, null, null), ROOT).secret();
    String session = access.signIn(secret, HERE);
    String first = access.signIn(other, HERE);
    String last = first;
    for (int i = 0; i < 12_000; i++) {
      last = access.signIn(other, HERE);
    }
    assertThat(access.login(new Access.Shown(null, session, null, HERE)).identity().name()).isEqualTo("ann");
    assertThat(access.login(new Access.Shown(null, last, null, HERE)).identity().name()).isEqualTo("bea");
    refused(401, "no longer signed in", () -> access.login(new Access.Shown(null, first, null, HERE)));
  }
}
