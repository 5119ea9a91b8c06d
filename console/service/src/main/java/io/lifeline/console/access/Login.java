package io.lifeline.console.access;

import java.time.Instant;

/**
 * How a caller was identified, so that it can be checked again.
 *
 * @param tokenHash null without a token
 * @param session id of the session; null unless the caller signed in on the page
 * @param until when the caller must log in again; null for never
 */
public record Login(Identity identity, Means means, String tokenHash, String session, Instant until) {
  /** What identified the caller. */
  public enum Means { LOCAL, TOKEN, SESSION, CERTIFICATE }
}
