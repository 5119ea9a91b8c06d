package io.lifeline.jobs.core.filter;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.ast.CelExpr.ExprKind.Kind;
import dev.cel.common.navigation.CelNavigableAst;
import dev.cel.common.navigation.CelNavigableExpr;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * The free names of a parsed condition. Names of fields may contain dots, so {@code a.b} is one name; but {@code
 * fields.a} is the name {@code fields} and a key.
 */
final class FreeNames {

  private FreeNames() {}

  static Set<String> of(CelAbstractSyntaxTree parsed) {
    CelNavigableExpr root = CelNavigableAst.fromAst(parsed).getRoot();
    Set<String> bound = new HashSet<>();
    root.allNodes()
        .map(CelNavigableExpr::expr)
        .filter(expr -> expr.getKind() == Kind.COMPREHENSION)
        .map(CelExpr::comprehension)
        .forEach(
            comprehension -> {
              bound.add(comprehension.accuVar());
              bound.add(comprehension.iterVar());
              bound.add(comprehension.iterVar2());
            });
    Set<String> names = new HashSet<>();
    root.allNodes()
        .filter(node -> node.getKind() == Kind.IDENT && !bound.contains(node.expr().ident().name()))
        .forEach(node -> names.add(qualified(node)));
    return names;
  }

  private static String qualified(CelNavigableExpr ident) {
    String name = ident.expr().ident().name();
    if (name.equals(Variables.FIELDS)) {
      return name;
    }
    Optional<CelNavigableExpr> parent = ident.parent();
    while (parent.isPresent() && parent.get().getKind() == Kind.SELECT && !parent.get().expr().select().testOnly()) {
      name = name + "." + parent.get().expr().select().field();
      parent = parent.get().parent();
    }
    return name;
  }
}
