package io.lifeline.console.access;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** What a caller may do; each role includes those before it. */
public enum Role {
  /** Read everything that the console shows. */
  VIEW,
  /** Change what is emitted, and issue tokens that may do at most the same. */
  ACTIVATE,
  /** List and revoke the tokens of all. */
  ADMIN;

  /** @throws IllegalArgumentException with a message for the user */
  @JsonCreator
  public static Role of(String text) {
    for (Role role : values()) {
      if (role.text().equals(text)) {
        return role;
      }
    }
    throw new IllegalArgumentException("'" + Names.printable(text) + "' is not a role: view, activate or admin");
  }

  @JsonValue
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  public boolean includes(Role other) {
    return compareTo(other) >= 0;
  }

  @Override
  public String toString() {
    return text();
  }
}
