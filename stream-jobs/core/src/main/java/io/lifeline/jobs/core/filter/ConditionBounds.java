package io.lifeline.jobs.core.filter;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Bounds what a condition can need for one event, before it is accepted: the size of any value, and the work. CEL
 * itself bounds the number of iterations, but {@code [s].map(a, a + a)}, chained, doubles a value with each link. Sizes
 * count what a value shares with others again, since comparing it visits that again.
 */
final class ConditionBounds {
  private static final long MOST_BYTES = 16 << 20;
  /** Steps: one for some bytes that are copied or compared, or for a byte and one of a regular expression. */
  private static final long MOST_WORK = 64 << 20;
  private static final long STEP_BYTES = 64;
  private static final int MOST_NESTED = 12;

  /** FORMAT.md limits events to 32 KiB, and names to 255 bytes. */
  private static final long EVENT_BYTES = 32 << 10;
  private static final long NAME_BYTES = 256;
  private static final long MOST_FIELDS = 256;
  private static final long OVERHEAD = 16;
  private static final Size SMALL = new Size(1, OVERHEAD, OVERHEAD);

  private final Map<String, Size> bound = new HashMap<>();
  private long work;
  private int nested;
  /** Turns of the loops around what is looked at; CEL ends a condition with more than it admits. */
  private long turns = 1;

  /**
   * The greatest size of a value.
   *
   * @param count of elements
   * @param element bytes of the greatest element
   */
  private record Size(long count, long bytes, long element) {
    Size {
      count = Math.min(count, Integer.MAX_VALUE);
      bytes = Math.min(bytes, Integer.MAX_VALUE);
      element = Math.min(element, Integer.MAX_VALUE);
    }

    Size or(Size other) {
      return new Size(Math.max(count, other.count), Math.max(bytes, other.bytes), Math.max(element, other.element));
    }

    Size plus(Size other) {
      return new Size(count + other.count, bytes + other.bytes, Math.max(element, other.element));
    }

    Size ofElement() {
      return new Size(Math.max(1, element / OVERHEAD), element, element);
    }
  }

  private ConditionBounds() {}

  /** @throws IllegalArgumentException if it may need too much */
  static void check(CelAbstractSyntaxTree ast) {
    new ConditionBounds().of(ast.getExpr());
  }

  private Size of(CelExpr expr) {
    Size size = switch (expr.getKind()) {
      case CONSTANT -> constant(expr.constant());
      case IDENT -> variable(expr.ident().name());
      case SELECT -> member(of(expr.select().operand()), expr.select().testOnly());
      case CALL -> call(expr.call());
      case LIST -> list(expr.list().elements());
      case STRUCT -> expr.struct().entries().stream().map(entry -> of(entry.value())).reduce(SMALL, Size::plus);
      case MAP -> expr.map().entries().stream().map(entry -> entry(of(entry.key()), of(entry.value())))
          .reduce(new Size(0, OVERHEAD, 0), Size::plus);
      case COMPREHENSION -> loop(expr.comprehension());
      default -> SMALL;
    };
    if (size.bytes > MOST_BYTES) {
      throw new IllegalArgumentException("one of its values may take more than " + (MOST_BYTES >> 20)
          + " MiB for an event: do not concatenate in loops");
    }
    return size;
  }

  private static Size constant(CelConstant constant) {
    long length = switch (constant.getKind()) {
      case STRING_VALUE -> constant.stringValue().length();
      case BYTES_VALUE -> constant.bytesValue().size();
      default -> 0;
    };
    return new Size(1, OVERHEAD + length, OVERHEAD);
  }

  private Size variable(String name) {
    Size known = bound.get(name);
    if (known != null) {
      return known;
    }
    return switch (name) {
      case Variables.FIELDS -> new Size(MOST_FIELDS, EVENT_BYTES, NAME_BYTES);
      case "type", "level", "host", "program", "incarnation" -> new Size(1, NAME_BYTES, OVERHEAD);
      default -> new Size(1, EVENT_BYTES, OVERHEAD);
    };
  }

  private static Size member(Size of, boolean isTest) {
    return isTest ? SMALL : new Size(Math.max(1, of.bytes / OVERHEAD), of.bytes, of.bytes);
  }

  private Size list(List<CelExpr> elements) {
    Size all = new Size(0, OVERHEAD, 0);
    for (CelExpr element : elements) {
      long bytes = OVERHEAD + of(element).bytes;
      all = all.plus(new Size(1, bytes, bytes));
    }
    return all;
  }

  private static Size entry(Size key, Size value) {
    return new Size(1, OVERHEAD + key.bytes + value.bytes, Math.max(key.bytes, value.bytes));
  }

  private Size call(CelExpr.CelCall call) {
    Size[] of = Stream.concat(call.target().stream(), call.args().stream()).map(this::of)
        .toArray(Size[]::new);
    Size all = SMALL;
    for (Size one : of) {
      all = all.plus(one);
    }
    spend(switch (call.function()) {
      case "matches" -> of[0].bytes * of[of.length - 1].bytes;
      case "contains" -> of[0].bytes * of[of.length - 1].bytes / STEP_BYTES;
      default -> 1 + all.bytes / STEP_BYTES;
    });
    return switch (call.function()) {
      case "_+_" -> of[0].plus(of[of.length - 1]);
      case "_?_:_" -> of[1].or(of[2]);
      case "_[_]" -> of[0].bytes == EVENT_BYTES ? new Size(1, EVENT_BYTES, OVERHEAD) : of[0].ofElement();
      case "string", "bytes" -> new Size(1, OVERHEAD + 4 * all.bytes, OVERHEAD);
      case "dyn" -> of[0];
      case "_||_", "_&&_", "!_", "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "@in", "matches", "contains",
          "startsWith", "endsWith", "size", "int", "uint", "double", "bool", "@not_strictly_false" -> SMALL;
      default -> new Size(1, all.bytes, OVERHEAD);
    };
  }

  private Size loop(CelExpr.CelComprehension loop) {
    Size range = of(loop.iterRange());
    Size begin = of(loop.accuInit());
    if (++nested > MOST_NESTED) {
      throw new IllegalArgumentException("its loops are nested more than " + MOST_NESTED + " deep");
    }
    Map<String, Size> outer = new HashMap<>(bound);
    bound.put(loop.iterVar(), range.ofElement());
    bound.put(loop.iterVar2(), range.ofElement());
    bound.put(loop.accuVar(), begin);
    long before = work;
    long around = turns;
    long most = Math.max(1, Math.min(range.count, Condition.MAX_ITERATIONS / around));
    turns = around * most;
    of(loop.loopCondition());
    Size once = of(loop.loopStep());
    long each = work - before;
    bound.put(loop.accuVar(), once);
    Size twice = of(loop.loopStep());
    work = before;
    turns = around;
    spend(each * most);
    if (twice.bytes - once.bytes > Math.max(0, once.bytes - begin.bytes)) {
      throw new IllegalArgumentException("one of its loops doubles a value with each turn");
    }
    long growth = Math.max(0, twice.bytes - once.bytes);
    Size end = new Size(begin.count + range.count, Math.max(begin.bytes, once.bytes) + growth * range.count,
        Math.max(begin.element, twice.element));
    bound.put(loop.accuVar(), end);
    Size result = of(loop.result());
    bound.clear();
    bound.putAll(outer);
    nested--;
    return result;
  }

  private void spend(long steps) {
    work += Math.min(steps, Integer.MAX_VALUE);
    if (work > MOST_WORK) {
      throw new IllegalArgumentException("it may take more than " + (MOST_WORK >> 20) + " million steps for an event:"
          + " use fewer loops, or shorter regular expressions");
    }
  }
}
