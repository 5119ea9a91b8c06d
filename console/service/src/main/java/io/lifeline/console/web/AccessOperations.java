package io.lifeline.console.web;

import io.lifeline.console.access.Access;
import io.lifeline.console.access.Identity;
import io.lifeline.console.access.Refusal;
import io.lifeline.console.access.Role;
import io.lifeline.console.access.Token;
import io.lifeline.console.access.TokenRequest;
import io.lifeline.console.access.Tokens;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Signing in on the page, and tokens: who has one, and who gives another person a part of what it may. */
public final class AccessOperations implements Operations {
  private static final Parameter<String> NAME = Parameter.text("name", "name of a token").ofPath();

  private final Access access;

  public AccessOperations(Access access) {
    this.access = access;
  }

  @Override
  public List<Operation> all() {
    return List.of(
        Operation.post("/session", "Sign in with a token; the answer sets the cookie of a session", SignIn.class, null,
            204, AccessOperations::signIn).open(),
        Operation.delete("/session", "Sign out", AccessOperations::signOut).open(),
        Operation.post("/tokens", "Issue a token that may do at most what the caller may; times are of ISO 8601",
            Issue.class, Issued.class, 201, this::issue),
        Operation.get("/tokens", "The tokens that the caller issued; for an admin: all", TokenRows.class, this::list)
            .needs(Role.VIEW),
        Operation.delete("/tokens/{name}", "Revoke a token, and those that it issued", Revoked.class, this::revoke,
            NAME));
  }

  record SignIn(String token) {}

  private static Object signIn(Call call) {
    String token = call.body(SignIn.class).token();
    if (token == null) {
      throw new Problem(400, "token is missing: the secret of a token is expected");
    }
    call.signIn(token.strip());
    return null;
  }

  private static Object signOut(Call call) {
    call.signOut();
    return null;
  }

  /**
   * What a new token shall be. What is null is as the caller's own.
   *
   * @param role view, activate or admin
   * @param onBehalfOf the person who acts with it
   * @param types patterns of event types that it may switch; empty for all
   * @param programs patterns of programs whose events it may switch; empty for all
   * @param resolution the highest that it may ask for: off, summary, sample:N or full
   * @param until when it expires; null for 30 days, or the caller's own end
   */
  record Issue(String name, String role, String onBehalfOf, List<String> types, List<String> programs,
      String resolution, String until) implements Audited {
    @Override
    public Map<String, Object> audited() {
      Map<String, Object> details = new LinkedHashMap<>();
      details.put("name", name);
      details.put("role", role);
      details.put("onBehalfOf", onBehalfOf);
      details.put("types", types);
      details.put("programs", programs);
      details.put("resolution", resolution);
      details.put("until", until);
      return details;
    }
  }

  /** @param secret of the token; it is shown only once */
  record Issued(String secret, TokenRow token) {}

  /** @param onBehalfOf null if the holder acts for itself */
  record TokenRow(String name, String role, List<String> types, List<String> programs, String resolution,
      String until, boolean expired, String onBehalfOf, String issuedBy, String issued) {
    static TokenRow of(Token token) {
      return new TokenRow(token.name(), token.role().text(), token.types(), token.programs(), token.resolution(),
          token.until(), token.expired(Instant.now()), token.onBehalfOf(), token.issuedBy(), token.issued());
    }
  }

  record TokenRows(List<TokenRow> tokens) {}

  /** @param tokens names of all that were revoked */
  record Revoked(List<String> tokens) {}

  private Object issue(Call call) {
    Issue asked = call.body(Issue.class);
    Tokens.Issued issued = tokens().issue(new TokenRequest(asked.name(), asked.role(), asked.onBehalfOf(),
        asked.types(), asked.programs(), asked.resolution(), asked.until()), call.identity());
    return new Issued(issued.secret(), TokenRow.of(issued.token()));
  }

  private Object list(Call call) {
    return new TokenRows(tokens().list().stream().filter(token -> mayManage(call.identity(), token))
        .map(TokenRow::of).toList());
  }

  private Object revoke(Call call) {
    String name = call.get(NAME);
    for (Token token : tokens().list()) {
      boolean own = name.equals(call.identity().name());
      if (token.name().equals(name) && !own && !mayManage(call.identity(), token)) {
        throw new Refusal(403, call.identity().name() + " did not issue the token " + name
            + ": its issuer, its holder or an admin can revoke it");
      }
    }
    return new Revoked(tokens().revoke(name));
  }

  private static boolean mayManage(Identity who, Token token) {
    return who.role() == Role.ADMIN || token.issuedBy().equals(who.name());
  }

  private Tokens tokens() {
    if (access.tokens() == null) {
      throw new Problem(409, "this console has no file of tokens: start it with --tokens FILE");
    }
    return access.tokens();
  }
}
