package io.lifeline.jobs.core;

import java.util.Arrays;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A name pattern in which {@code *} matches any text, including none. */
public final class Glob {

  private final Pattern pattern;

  private Glob(Pattern pattern) {
    this.pattern = pattern;
  }

  public static Glob of(String text) {
    String regex = Arrays.stream(text.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
    return new Glob(Pattern.compile(regex, Pattern.DOTALL));
  }

  public boolean matches(String name) {
    return pattern.matcher(name).matches();
  }
}
