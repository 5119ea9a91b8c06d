package io.lifeline.console.web;

import io.lifeline.console.index.Span;
import io.lifeline.jobs.core.Glob;

/** Parameters that several operations have. */
final class Parameters {
  static final Parameter<Long> FROM = Parameter.time("from", "beginning of the span, ns since 1970");
  static final Parameter<Long> TO = Parameter.time("to", "end of the span, ns since 1970");
  static final Parameter<Integer> WIDTH = Parameter.integer("width", "pixels of the picture", 1, 16_384, 1000);

  static final Parameter<String> PROGRAM = Parameter.text("program", "programs, * matches any text");
  static final Parameter<String> HOST = Parameter.text("host", "hosts, * matches any text");

  /** Needs an archive. */
  static final Parameter<String> SESSION = Parameter.text("session", "only programs that took part in this session");

  private Parameters() {}

  /** Returns the pattern of a text; that of everything if it is missing or empty. */
  static Glob glob(String text) {
    return Glob.of(text == null || text.isEmpty() ? "*" : text);
  }

  static Span span(Call call) {
    return span(call, FROM, TO);
  }

  static Span span(Call call, Parameter<Long> from, Parameter<Long> to) {
    try {
      return new Span(call.get(from), call.get(to));
    } catch (IllegalArgumentException e) {
      throw new Problem(400, e.getMessage());
    }
  }
}
