package io.lifeline.jobs.core.filter;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelErrorCode;
import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.ast.CelExpr.CelCall;
import dev.cel.common.ast.CelExpr.CelSelect;
import dev.cel.common.ast.CelExpr.ExprKind.Kind;
import dev.cel.common.navigation.CelNavigableAst;
import dev.cel.common.navigation.CelNavigableExpr;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.core.filter.TextTerm.Match;
import io.lifeline.jobs.core.filter.Variable.Scope;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Compiles a condition into terms for one event type. Logical operators, comparisons of fields with constants, string
 * searches and {@code in} lists of constants become loops over columns. Parts with the same result for all events of
 * the type are evaluated here. CEL evaluates the rest, part by part.
 */
final class TermCompiler {

  /** Operator of a comparison with swapped operands. */
  private static final Map<String, String> MIRRORED =
      Map.of("_<_", "_>_", "_<=_", "_>=_", "_>_", "_<_", "_>=_", "_<=_", "_==_", "_==_", "_!=_", "_!=_");

  private final Condition condition;
  private final Variables variables;
  private final Consumer<CelErrorCode> trouble;

  private TermCompiler(Condition condition, EventType type, Consumer<CelErrorCode> trouble) {
    this.condition = condition;
    this.variables = new Variables(type);
    this.trouble = trouble;
  }

  static Term compile(Condition condition, EventType type, Consumer<CelErrorCode> trouble) {
    return new TermCompiler(condition, type, trouble).term(condition.ast().getExpr());
  }

  private Term term(CelExpr expr) {
    Term compiled = compiled(expr);
    return compiled != null ? compiled : interpreted(expr);
  }

  private Term compiled(CelExpr expr) {
    return switch (expr.getKind()) {
      case CALL -> call(expr.call());
      case IDENT, SELECT -> truth(expr);
      default -> null;
    };
  }

  /** Returns the term of a call, or null if it is left to CEL. */
  private Term call(CelCall call) {
    List<CelExpr> args = call.args();
    return switch (call.function()) {
      case "_&&_" -> Combination.and(term(args.get(0)), term(args.get(1)));
      case "_||_" -> Combination.or(term(args.get(0)), term(args.get(1)));
      case "!_" -> Combination.not(term(args.get(0)));
      case "_?_:_" -> Combination.choice(term(args.get(0)), term(args.get(1)), term(args.get(2)));
      case "_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_" -> comparison(call.function(), args.get(0), args.get(1));
      case "@in" -> membership(args.get(0), args.get(1));
      case "startsWith", "endsWith", "contains" -> search(call);
      default -> null;
    };
  }

  /** Returns the term of a boolean field, or of a test for the presence of a field; else null. */
  private Term truth(CelExpr expr) {
    if (expr.getKind() == Kind.SELECT && expr.select().testOnly()) {
      CelSelect select = expr.select();
      return isFields(select.operand()) ? new Always(Judgement.of(variables.own(select.field()) != null)) : null;
    }
    Variable variable = variable(expr);
    return variable != null && variable.type() == FieldType.BOOL
        ? RangeTerm.of(variable.column(), Scale.INT, new Interval(1, 1))
        : null;
  }

  private Term comparison(String operator, CelExpr left, CelExpr right) {
    return right.getKind() == Kind.CONSTANT
        ? comparison(operator, variable(left), right.constant())
        : left.getKind() == Kind.CONSTANT
            ? comparison(MIRRORED.get(operator), variable(right), left.constant())
            : null;
  }

  private Term comparison(String operator, Variable variable, CelConstant constant) {
    if (variable == null || variable.type() == null) {
      return null;
    }
    if (operator.equals("_!=_")) {
      Term equal = comparison("_==_", variable, constant);
      return equal == null ? null : Combination.not(equal);
    }
    Scale scale = Scale.of(variable.type());
    return switch (constant.getKind()) {
      case INT64_VALUE, UINT64_VALUE, DOUBLE_VALUE ->
          scale == null ? null : RangeTerm.of(variable.column(), scale, Interval.of(scale, operator, constant));
      case BOOLEAN_VALUE -> {
        long value = constant.booleanValue() ? 1 : 0;
        yield variable.type() == FieldType.BOOL && operator.equals("_==_")
            ? RangeTerm.of(variable.column(), Scale.INT, new Interval(value, value))
            : null;
      }
      case STRING_VALUE -> text(variable, Match.of(operator), constant);
      default -> null;
    };
  }

  private Term text(Variable variable, Match match, CelConstant constant) {
    return match != null && variable.isText() && TextTerm.isSafe(constant.stringValue())
        ? new TextTerm(variable.field(), match, constant.stringValue())
        : null;
  }

  private Term membership(CelExpr element, CelExpr list) {
    if (list.getKind() != Kind.LIST) {
      return null;
    }
    Term any = new Always(Judgement.NO);
    for (CelExpr candidate : list.list().elements()) {
      Term equal = candidate.getKind() == Kind.CONSTANT ? comparison("_==_", element, candidate) : null;
      if (equal == null) {
        return null;
      }
      any = Combination.or(any, equal);
    }
    return variable(element) == null ? null : any;
  }

  private Term search(CelCall call) {
    CelExpr argument = call.args().get(0);
    Variable variable = call.target().map(this::variable).orElse(null);
    return variable != null && isText(argument)
        ? text(variable, Match.of(call.function()), argument.constant())
        : null;
  }

  /** Returns the variable of a name, {@code fields.name} or {@code fields["name"]}; null for anything else. */
  private Variable variable(CelExpr expr) {
    return switch (expr.getKind()) {
      case IDENT -> variables.find(expr.ident().name());
      case SELECT -> isFields(expr.select().operand()) ? variables.own(expr.select().field()) : null;
      case CALL -> fieldByIndex(expr.call());
      default -> null;
    };
  }

  private Variable fieldByIndex(CelCall call) {
    return call.function().equals("_[_]") && isFields(call.args().get(0)) && isText(call.args().get(1))
        ? variables.own(call.args().get(1).constant().stringValue())
        : null;
  }

  private static boolean isText(CelExpr expr) {
    return expr.getKind() == Kind.CONSTANT && expr.constant().getKind() == CelConstant.Kind.STRING_VALUE;
  }

  private static boolean isFields(CelExpr expr) {
    return expr.getKind() == Kind.IDENT && expr.ident().name().equals(Variables.FIELDS);
  }

  private Term interpreted(CelExpr expr) {
    return CelTerm.of(condition.program(expr), variables, scope(expr), trouble);
  }

  /** Returns the scope of an expression's result: the narrowest scope of its names. */
  private Scope scope(CelExpr expr) {
    CelAbstractSyntaxTree part = CelAbstractSyntaxTree.newParsedAst(expr, condition.ast().getSource());
    return CelNavigableAst.fromAst(part)
        .getRoot()
        .allNodes()
        .map(CelNavigableExpr::expr)
        .filter(node -> node.getKind() == Kind.IDENT)
        .map(node -> variables.find(node.ident().name()))
        .map(variable -> variable == null ? Scope.TYPE : variable.scope())
        .reduce(Scope.TYPE, (one, other) -> one.compareTo(other) >= 0 ? one : other);
  }
}
