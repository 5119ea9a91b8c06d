package io.lifeline.console.web;

import java.util.Arrays;
import java.util.List;

/** All that the service answers. */
public record Routes(List<Operation> operations) {
  public static Routes of(Operations... parts) {
    return new Routes(Arrays.stream(parts).flatMap(part -> part.all().stream()).toList());
  }
}
