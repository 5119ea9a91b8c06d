package io.lifeline.jobs.core.filter;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;

/** Conditions of every shape over the fields of {@link Samples}, those that cannot be evaluated included. */
final class Expressions {

  private static final Arbitrary<String> INTEGERS =
      Arbitraries.of(
          "0", "1", "2", "-1", "3", "2147483647", "4294967295", "9007199254740993", "9223372036854775807",
          "-9223372036854775808");
  private static final Arbitrary<String> UNSIGNED =
      Arbitraries.of("0u", "1u", "3u", "4294967295u", "9223372036854775807u", "9223372036854775808u",
          "18446744073709551615u");
  private static final Arbitrary<String> FLOATS =
      Arbitraries.of("0.0", "-0.0", "1.0", "1.5", "-1.5", "9007199254740992.0", "9.223372036854775807e18",
          "1.8446744073709551616e19", "1.0e300", "-1.0e300", "5.0e-324");
  private static final Arbitrary<String> NUMBERS = Arbitraries.oneOf(INTEGERS, UNSIGNED, FLOATS);
  private static final Arbitrary<String> TEXTS = Arbitraries.of("''", "'a'", "'ab'", "'b'", "'é'", "'\\ufffd'");
  private static final Arbitrary<String> ANY = Arbitraries.oneOf(NUMBERS, TEXTS, Arbitraries.of("true", "false", "null"));
  private static final Arbitrary<String> FIELDS =
      Arbitraries.of(
          "i32", "i64", "u32", "u64", "f32", "f64", "text", "flag", "blob", "limit", "stage", "absent", "host_",
          "dotted.name", "fields.i64", "fields.host", "fields['f64']", "fields.absent", "ts_ns", "thread");
  private static final Arbitrary<String> OPERATORS = Arbitraries.of("<", "<=", ">", ">=", "==", "!=");
  private static final Arbitrary<String> SEARCHES = Arbitraries.of("startsWith", "endsWith", "contains");

  private Expressions() {}

  static Arbitrary<String> conditions() {
    return conditions(3);
  }

  private static Arbitrary<String> conditions(int depth) {
    if (depth == 0) {
      return leaves();
    }
    Arbitrary<String> inner = conditions(depth - 1);
    return Arbitraries.frequencyOf(
        Tuple.of(2, leaves()),
        Tuple.of(3, Combinators.combine(inner, inner).as((a, b) -> "(" + a + " && " + b + ")")),
        Tuple.of(3, Combinators.combine(inner, inner).as((a, b) -> "(" + a + " || " + b + ")")),
        Tuple.of(1, inner.map(a -> "!(" + a + ")")),
        Tuple.of(
            1, Combinators.combine(inner, inner, inner).as((a, b, c) -> "(" + a + " ? " + b + " : " + c + ")")));
  }

  private static Arbitrary<String> leaves() {
    return Arbitraries.oneOf(
        List.of(
            Combinators.combine(FIELDS, OPERATORS, NUMBERS).as((a, op, b) -> a + " " + op + " " + b),
            Combinators.combine(NUMBERS, OPERATORS, FIELDS).as((a, op, b) -> a + " " + op + " " + b),
            Combinators.combine(FIELDS, OPERATORS, ANY.filter(b -> !b.equals("null"))).as(
                (a, op, b) -> a + " " + op + " " + b),
            Combinators.combine(FIELDS, Arbitraries.of("==", "!="), ANY).as((a, op, b) -> a + " " + op + " " + b),
            Combinators.combine(FIELDS, OPERATORS, FIELDS).as((a, op, b) -> a + " " + op + " " + b),
            Combinators.combine(FIELDS, SEARCHES, TEXTS).as((a, search, b) -> a + "." + search + "(" + b + ")"),
            Combinators.combine(FIELDS, ANY.list().ofMaxSize(3)).as((a, list) -> a + " in " + "dyn(" + list + ")"),
            Combinators.combine(FIELDS, NUMBERS.list().ofMaxSize(3)).as((a, list) -> a + " in " + list),
            Combinators.combine(FIELDS, TEXTS.list().ofMaxSize(3)).as((a, list) -> a + " in " + list),
            FIELDS,
            Arbitraries.of(
                "true", "false", "has(fields.i32)", "has(fields.absent)", "has(fields.stage)", "'text' in fields",
                "host == 'host-a'", "host != 'host-a'", "program.startsWith('c')", "type == 'sample'",
                "type.startsWith('sam')", "level == 'info'", "pid == 42", "route in [0, 1]", "event_index < 40",
                "ts > timestamp('2020-01-01T00:00:00Z')", "sequence == 1", "i32 + 1 > 2", "i64 / 0 > 1",
                "size(text) > 1", "text.matches('a.*')", "text < 'b'", "['a', 'b'].exists(x, x == text)",
                "u64 * 2u > 10u", "int(f64) == 1")));
  }
}
