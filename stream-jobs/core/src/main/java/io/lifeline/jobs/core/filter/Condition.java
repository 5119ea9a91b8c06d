package io.lifeline.jobs.core.filter;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelErrorCode;
import dev.cel.common.CelIssue;
import dev.cel.common.CelOptions;
import dev.cel.common.CelValidationException;
import dev.cel.common.CelValidationResult;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.types.CelType;
import dev.cel.common.types.MapType;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerBuilder;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeFactory;
import dev.cel.runtime.Program;
import io.lifeline.codec.EventType;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A condition on events, in CEL. Fields have no types of their own here, since every event type has others under the
 * same names: what does not fit together shows when events are judged, and those events are not taken.
 */
public final class Condition {

  private static final CelOptions OPTIONS = CelOptions.current().enableHeterogeneousNumericComparisons(true).build();
  private static final CelRuntime RUNTIME = CelRuntimeFactory.plannerRuntimeBuilder().setOptions(OPTIONS).build();
  private static final CelCompiler PARSER = compiler().build();

  /** Names that CEL itself gives a meaning: its types. */
  private static final Set<String> RESERVED =
      Set.of("bool", "bytes", "double", "dyn", "google", "int", "list", "map", "null_type", "string", "uint");

  private static final Set<String> TEXTS = Set.of("type", "level", "host", "program", "incarnation");

  private final String text;
  private final CelAbstractSyntaxTree ast;

  private Condition(String text, CelAbstractSyntaxTree ast) {
    this.text = text;
    this.ast = ast;
  }

  /**
   * @throws IllegalArgumentException if it is no CEL, or yields no truth value; the message says where
   */
  public static Condition parse(String text) {
    CelCompilerBuilder builder = compiler();
    CelAbstractSyntaxTree parsed = checked(PARSER.parse(text));
    Set<String> names = FreeNames.of(parsed);
    names.removeAll(RESERVED);
    names.addAll(Variables.COMMON);
    names.forEach(name -> builder.addVar(name, type(name)));
    CelAbstractSyntaxTree ast = checked(builder.build().check(parsed));
    CelType result = ast.getResultType();
    if (!result.equals(SimpleType.BOOL) && !result.equals(SimpleType.DYN)) {
      throw new IllegalArgumentException("it yields " + result.name() + ", not true or false");
    }
    return new Condition(text, ast);
  }

  /**
   * Makes the condition ready for events of that type.
   *
   * @param trouble is told why events cannot be judged, again and again, unless it is only that they lack a field
   */
  Term on(EventType type, Consumer<CelErrorCode> trouble) {
    return TermCompiler.compile(this, type, trouble);
  }

  /** The same without any shortcut: CEL evaluates everything, event by event. */
  Term interpretedOn(EventType type) {
    return CelTerm.of(program(ast.getExpr()), new Variables(type), Variable.Scope.EVENT, code -> {});
  }

  CelAbstractSyntaxTree ast() {
    return ast;
  }

  /** A program for a part of the condition. */
  Program program(CelExpr part) {
    try {
      return RUNTIME.createProgram(
          CelAbstractSyntaxTree.newCheckedAst(part, ast.getSource(), ast.getReferenceMap(), ast.getTypeMap()));
    } catch (CelEvaluationException e) {
      throw new IllegalArgumentException("CEL cannot evaluate it: " + e.getMessage(), e);
    }
  }

  /** As it was written. */
  @Override
  public String toString() {
    return text;
  }

  private static CelCompilerBuilder compiler() {
    return CelCompilerFactory.standardCelCompilerBuilder()
        .setOptions(OPTIONS)
        .setStandardMacros(CelStandardMacro.STANDARD_MACROS);
  }

  private static CelType type(String name) {
    return switch (name) {
      case "ts" -> SimpleType.TIMESTAMP;
      case Variables.FIELDS -> MapType.create(SimpleType.STRING, SimpleType.DYN);
      default -> TEXTS.contains(name) ? SimpleType.STRING : SimpleType.DYN;
    };
  }

  private static CelAbstractSyntaxTree checked(CelValidationResult result) {
    try {
      return result.getAst();
    } catch (CelValidationException e) {
      CelIssue first = e.getErrors().get(0);
      throw new IllegalArgumentException(
          "line " + first.getSourceLocation().getLine() + ", column " + (first.getSourceLocation().getColumn() + 1)
              + ": " + first.getMessage(),
          e);
    }
  }
}
