package io.lifeline.jobs.core.filter;

import io.lifeline.cases.Inputs;
import java.util.List;
import java.util.function.Supplier;

/** Conditions of all forms over the fields of {@link Samples}, including some that cannot be evaluated. */
final class Expressions {

  private static final String[] INTEGERS = {
    "0", "1", "2", "-1", "3", "2147483647", "4294967295", "9007199254740993", "9223372036854775807",
    "-9223372036854775808"
  };
  private static final String[] UNSIGNED = {
    "0u", "1u", "3u", "4294967295u", "9223372036854775807u", "9223372036854775808u", "18446744073709551615u"
  };
  private static final String[] FLOATS = {
    "0.0", "-0.0", "1.0", "1.5", "-1.5", "9007199254740992.0", "9.223372036854775807e18", "1.8446744073709551616e19",
    "1.0e300", "-1.0e300", "5.0e-324"
  };
  private static final String[] TEXTS = {"''", "'a'", "'ab'", "'b'", "'é'", "'\\ufffd'"};
  private static final String[] FIELDS = {
    "i32", "i64", "u32", "u64", "f32", "f64", "text", "flag", "blob", "limit", "stage", "absent", "host_",
    "dotted.name", "fields.i64", "fields.host", "fields['f64']", "fields.absent", "ts_ns", "thread"
  };
  private static final String[] OPERATORS = {"<", "<=", ">", ">=", "==", "!="};
  private static final String[] OTHERS = {
    "true", "false", "has(fields.i32)", "has(fields.absent)", "has(fields.stage)", "'text' in fields",
    "host == 'host-a'", "host != 'host-a'", "program.startsWith('c')", "type == 'sample'", "type.startsWith('sam')",
    "level == 'info'", "pid == 42", "route in [0, 1]", "event_index < 40", "ts > timestamp('2020-01-01T00:00:00Z')",
    "sequence == 1", "i32 + 1 > 2", "i64 / 0 > 1", "size(text) > 1", "text.matches('a.*')", "text < 'b'",
    "['a', 'b'].exists(x, x == text)", "u64 * 2u > 10u", "int(f64) == 1"
  };

  private final Inputs any;

  private Expressions(Inputs any) {
    this.any = any;
  }

  static String condition(Inputs any, int depth) {
    return new Expressions(any).condition(depth);
  }

  private String condition(int depth) {
    String shape = depth == 0 ? "" : any.of("", "", "&&", "&&", "&&", "||", "||", "||", "!", "?");
    return switch (shape) {
      case "" -> leaf();
      case "!" -> "!(" + condition(depth - 1) + ")";
      case "?" -> "(" + condition(depth - 1) + " ? " + condition(depth - 1) + " : " + condition(depth - 1) + ")";
      default -> "(" + condition(depth - 1) + " " + shape + " " + condition(depth - 1) + ")";
    };
  }

  private String leaf() {
    String field = any.of(FIELDS);
    String compared = field + " " + any.of(OPERATORS) + " ";
    return switch (any.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)) {
      case 0 -> compared + number();
      case 1 -> number() + " " + any.of(OPERATORS) + " " + field;
      case 2 -> compared + any.of(number(), text(), any.of("true", "false"));
      case 3 -> field + any.of(" == ", " != ") + value();
      case 4 -> compared + any.of(FIELDS);
      case 5 -> field + any.of(".startsWith(", ".endsWith(", ".contains(") + text() + ")";
      case 6 -> field + " in dyn(" + list(this::value) + ")";
      case 7 -> field + " in " + list(this::number);
      case 8 -> field + " in " + list(this::text);
      case 9 -> field;
      default -> any.of(OTHERS);
    };
  }

  private List<String> list(Supplier<String> element) {
    return any.list(0, 3, element);
  }

  private String number() {
    return any.of(any.of(INTEGERS), any.of(UNSIGNED), any.of(FLOATS));
  }

  private String text() {
    return any.of(TEXTS);
  }

  private String value() {
    return any.of(number(), text(), any.of("true", "false", "null"));
  }
}
