package io.lifeline.console.access;

import io.lifeline.jobs.core.Glob;
import java.time.Instant;
import java.util.List;

/**
 * What a caller may switch on, at most. They do not limit what it may see.
 *
 * @param types patterns of event types, {@code *} matches any text; empty for all types
 * @param programs patterns of programs; empty for all programs
 * @param until when the login ends, and so the latest end of what it switches on; null for no end
 */
public record Limits(List<String> types, List<String> programs, Resolution resolution, Instant until) {
  public static final Limits NONE = new Limits(List.of(), List.of(), Resolution.FULL, null);
  private static final List<String> ALL = List.of("*");

  public Limits {
    types = List.copyOf(types);
    programs = List.copyOf(programs);
  }

  /**
   * Compares these limits with what is asked for: the limits of another token, or an activation's types, program,
   * resolution and end.
   *
   * @return what exceeds these limits, as the end of a sentence; null if nothing does
   */
  public String exceededBy(Limits asked) {
    String excess = outside("event types", types, asked.types);
    if (excess == null) {
      excess = outside("programs", programs, asked.programs);
    }
    if (excess == null && asked.resolution.compareTo(resolution) > 0) {
      excess = "resolution " + asked.resolution + ", but at most " + resolution + " is allowed";
    }
    if (excess == null && until != null && (asked.until == null || asked.until.isAfter(until))) {
      excess = "an end " + (asked.until == null ? "that is not given" : "at " + asked.until) + ", but at the latest "
          + until + " is allowed";
    }
    return excess;
  }

  private static String outside(String what, List<String> allowed, List<String> asked) {
    if (allowed.isEmpty()) {
      return null;
    }
    for (String pattern : asked.isEmpty() ? ALL : asked) {
      // A * of the asked pattern is an ordinary character here, which only a * of an allowed pattern matches: then
      // everything that the asked pattern matches is matched by the allowed one, too.
      if (allowed.stream().noneMatch(one -> Glob.of(one).matches(pattern))) {
        return what + " " + Names.printable(pattern) + ", but only " + Names.printable(String.join(", ", allowed))
            + " is allowed";
      }
    }
    return null;
  }
}
