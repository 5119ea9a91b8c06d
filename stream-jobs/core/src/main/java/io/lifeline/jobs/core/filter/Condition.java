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
 * A condition on events, in CEL. Fields are not statically typed, since event types may use the same name for different
 * types: type errors occur when events are judged, and those events are not selected.
 */
public final class Condition {

  /** Of loops over lists and maps, for one event: nested ones could otherwise take a core for ever. */
  static final int MAX_ITERATIONS = 10_000;

  private static final CelOptions OPTIONS =
      CelOptions.current()
          .enableHeterogeneousNumericComparisons(true)
          .comprehensionMaxIterations(MAX_ITERATIONS)
          .build();
  private static final CelRuntime RUNTIME = CelRuntimeFactory.plannerRuntimeBuilder().setOptions(OPTIONS).build();
  private static final CelCompiler PARSER = compiler().build();

  /** Names of CEL's own types. */
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
   * @throws IllegalArgumentException if it is not valid CEL, does not yield a boolean, or may need too much for an
   *     event; the message gives the reason
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
    ConditionBounds.check(ast);
    return new Condition(text, ast);
  }

  /**
   * Compiles the condition for events of that type.
   *
   * @param trouble repeatedly receives the reason why events cannot be judged, except for missing fields
   */
  Term on(EventType type, Consumer<CelErrorCode> trouble) {
    return TermCompiler.compile(this, type, trouble);
  }

  /** Compiles without optimisation: CEL evaluates everything, event by event. */
  Term interpretedOn(EventType type) {
    return CelTerm.of(program(ast.getExpr()), new Variables(type), Variable.Scope.EVENT, code -> {});
  }

  CelAbstractSyntaxTree ast() {
    return ast;
  }

  /** Returns a program for a part of the condition. */
  Program program(CelExpr part) {
    try {
      return RUNTIME.createProgram(
          CelAbstractSyntaxTree.newCheckedAst(part, ast.getSource(), ast.getReferenceMap(), ast.getTypeMap()));
    } catch (CelEvaluationException e) {
      throw new IllegalArgumentException("CEL cannot evaluate it: " + e.getMessage(), e);
    }
  }

  /** Returns the condition as it was written. */
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
