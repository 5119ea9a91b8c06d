package io.lifeline.console.access;

import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.List;

/** What a token that somebody issues may do: what was asked for, if the issuer may do it, too. */
final class Delegation {
  private static final Duration USUAL = Duration.ofDays(30);
  private static final int MOST_PATTERNS = 100;
  private static final int LONGEST_PATTERN = 200;

  private Delegation() {}

  static Token token(TokenRequest asked, Identity issuer, String hash, Instant now) {
    String name = Names.token(asked.name());
    Limits own = issuer.limits();
    Role role;
    Limits limits;
    try {
      role = Role.of(asked.role());
      limits = new Limits(patterns("types", asked.types(), own.types()),
          patterns("programs", asked.programs(), own.programs()),
          asked.resolution() == null ? own.resolution() : Resolution.of(asked.resolution()),
          until(asked.until(), own.until(), now));
    } catch (IllegalArgumentException e) {
      throw new Refusal(400, e.getMessage());
    }
    if (!issuer.role().includes(role)) {
      throw new Refusal(403, issuer.name() + " has role " + issuer.role() + " and cannot issue a token with role "
          + role + ": ask for at most " + issuer.role());
    }
    String excess = own.exceededBy(limits);
    if (excess != null) {
      throw new Refusal(403, issuer.name() + " cannot issue a token for " + excess);
    }
    String person = asked.onBehalfOf() == null ? issuer.onBehalfOf() : Names.person(asked.onBehalfOf());
    return Token.of(name, hash, role, limits, person, issuer.name(),
        now.truncatedTo(ChronoUnit.SECONDS));
  }

  private static Instant until(String asked, Instant own, Instant now) {
    Instant usual = now.plus(USUAL).truncatedTo(ChronoUnit.SECONDS);
    if (asked == null) {
      return own != null && own.isBefore(usual) ? own : usual;
    }
    Instant until;
    try {
      until = Instant.parse(asked);
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException("until '" + Names.printable(asked)
          + "' is not a time: write it as 2026-12-31T18:00:00Z");
    }
    if (!until.isAfter(now)) {
      throw new IllegalArgumentException("until " + until + " is in the past");
    }
    return until;
  }

  private static List<String> patterns(String name, List<String> asked, List<String> own) {
    if (asked == null) {
      return own;
    }
    if (asked.size() > MOST_PATTERNS) {
      throw new IllegalArgumentException(name + " has " + asked.size() + " patterns: at most " + MOST_PATTERNS);
    }
    for (String pattern : asked) {
      if (pattern == null || pattern.isEmpty() || pattern.length() > LONGEST_PATTERN
          || pattern.chars().anyMatch(c -> c <= ' ' || c == 0x7f)) {
        throw new IllegalArgumentException(name + " has the pattern '" + Names.printable(pattern)
            + "': 1 to " + LONGEST_PATTERN + " characters without blanks are expected");
      }
    }
    return asked;
  }
}
