package io.lifeline.console.access;

import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Identifies callers: by token, by a session of the page, or by a certificate that the TLS layer verified. */
public final class Access {
  /** The only caller of a console that needs no login. */
  public static final String LOCAL = "local";
  private static final Logger LOG = LoggerFactory.getLogger(Access.class);
  private static final String BEARER = "bearer ";

  private final Tokens tokens;
  private final Role certificateRole;
  private final Clock clock;
  private final Sessions sessions;
  private final FailedLogins failures;

  private Access(Tokens tokens, Role certificateRole, Clock clock) {
    this.tokens = tokens;
    this.certificateRole = certificateRole;
    this.clock = clock;
    this.sessions = new Sessions(clock);
    this.failures = new FailedLogins(clock);
  }

  /** Everyone who reaches the console may do everything. */
  public static Access withoutLogin() {
    return new Access(null, null, Clock.systemUTC());
  }

  /**
   * Callers must show who they are.
   *
   * @param tokens null if only certificates count
   * @param certificateRole of all callers with a certificate; null if only tokens count
   */
  public static Access withLogin(Tokens tokens, Role certificateRole, Clock clock) {
    return new Access(tokens, certificateRole, clock);
  }

  /**
   * What a request shows of its sender; null for what it does not show.
   *
   * @param authorization the header of that name
   * @param session id of a session
   * @param certificate the client's, verified
   */
  public record Shown(String authorization, String session, X509Certificate certificate, String from) {}

  public boolean needsLogin() {
    return tokens != null || certificateRole != null;
  }

  /** Returns the file of tokens; null if there is none. */
  public Tokens tokens() {
    return tokens;
  }

  /** @throws Refusal if the sender is unknown, or no longer known */
  public Login login(Shown shown) {
    if (!needsLogin()) {
      return new Login(new Identity(LOCAL, Role.ADMIN, null, shown.from(), Limits.NONE), Login.Means.LOCAL, null, null,
          null);
    }
    if (shown.authorization() != null) {
      return byToken(bearer(shown), shown.from());
    }
    Login login = shown.session() == null || tokens == null ? null : bySession(shown.session(), shown.from());
    if (login == null && shown.certificate() != null && certificateRole != null) {
      login = byCertificate(shown.certificate(), shown.from());
    }
    if (login != null) {
      return login;
    }
    throw new Refusal(401, shown.session() != null
        ? "you are no longer signed in: sign in again with a token that is valid" : howToSignIn());
  }

  private String howToSignIn() {
    return tokens == null
        ? "this console needs a client certificate: send one that its --tls-client-ca issued"
        : "this console needs a login: sign in on its page, or send a token as Authorization: Bearer";
  }

  /** Signs in with a token. Returns a session's id, a secret. */
  public String signIn(String token, String from) {
    if (tokens == null) {
      throw new Refusal(409, needsLogin() ? howToSignIn() : "this console needs no login");
    }
    Login login = byToken(token, from);
    LOG.info("{} signed in from {}", login.identity().name(), from);
    return sessions.begin(login.tokenHash(), login.until());
  }

  public void signOut(String session) {
    sessions.end(session);
  }

  /**
   * Checks a caller again, whose call takes long.
   *
   * @return why the login is over; null if it is not
   */
  public String ended(Login login) {
    Instant until = login.until();
    if (until != null && !clock.instant().isBefore(until)) {
      return "the login of " + login.identity().name() + " ended at " + until;
    }
    if (login.session() != null && sessions.find(login.session()) == null) {
      return login.identity().name() + " signed out";
    }
    return login.tokenHash() == null || tokens.find(login.tokenHash()) != null ? null
        : "the token " + login.identity().name() + " was revoked";
  }

  private static String bearer(Shown shown) {
    String authorization = shown.authorization();
    return authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())
        ? authorization.substring(BEARER.length()).strip() : "";
  }

  private Login byToken(String secret, String from) {
    if (tokens == null) {
      throw failures.failed(from, "tokens do not count here: " + howToSignIn());
    }
    String hash = Secret.hash(secret);
    Token token = tokens.find(hash);
    if (token == null) {
      throw failures.failed(from, "the token is unknown: mistyped, expired or revoked");
    }
    if (token.expired(clock.instant())) {
      throw failures.failed(from, "the token " + token.name() + " expired at " + token.until());
    }
    return new Login(token.identity(from), Login.Means.TOKEN, hash, null, token.limits().until());
  }

  private Login bySession(String id, String from) {
    Sessions.Session session = sessions.find(id);
    Token token = session == null ? null : tokens.find(session.tokenHash());
    return token == null || token.expired(clock.instant()) ? null
        : new Login(token.identity(from), Login.Means.SESSION, token.hash(), id, session.until());
  }

  private Login byCertificate(X509Certificate certificate, String from) {
    Instant until = certificate.getNotAfter().toInstant();
    if (!clock.instant().isBefore(until)) {
      return null; // a connection may outlive the certificate that opened it
    }
    Limits limits = new Limits(List.of(), List.of(), Resolution.FULL, until);
    String name = "certificate:" + Names.printable(commonName(certificate));
    Identity identity = new Identity(name, certificateRole, null, from, limits);
    return new Login(identity, Login.Means.CERTIFICATE, null, null, until);
  }

  private static String commonName(X509Certificate certificate) {
    String subject = certificate.getSubjectX500Principal().getName();
    try {
      for (Rdn part : new LdapName(subject).getRdns()) {
        if (part.getType().equalsIgnoreCase("CN")) {
          return String.valueOf(part.getValue());
        }
      }
    } catch (InvalidNameException e) {
      // then the whole subject has to do
    }
    return subject;
  }
}
