package io.lifeline.console.access;

import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * A token as the file keeps it.
 *
 * @param hash of the secret
 * @param until when it expires; times are of ISO 8601
 * @param onBehalfOf null if the holder acts for itself
 * @param issuedBy name of the issuer
 */
public record Token(String name, String hash, Role role, List<String> types, List<String> programs, String resolution,
    String until, String onBehalfOf, String issuedBy, String issued) {

  public Token {
    if (Stream.of(name, hash, role, types, programs, resolution, until, issuedBy).anyMatch(Objects::isNull)) {
      throw new IllegalArgumentException("a member is missing");
    }
    Resolution.of(resolution);
    Instant.parse(until);
  }

  static Token of(String name, String hash, Role role, Limits limits, String onBehalfOf, String issuedBy, Instant now) {
    return new Token(name, hash, role, limits.types(), limits.programs(), limits.resolution().text(),
        limits.until().toString(), onBehalfOf, issuedBy, now.toString());
  }

  Limits limits() {
    return new Limits(types, programs, Resolution.of(resolution), Instant.parse(until));
  }

  Identity identity(String from) {
    return new Identity(name, role, onBehalfOf, from, limits());
  }

  public boolean expired(Instant now) {
    return !now.isBefore(Instant.parse(until));
  }
}
