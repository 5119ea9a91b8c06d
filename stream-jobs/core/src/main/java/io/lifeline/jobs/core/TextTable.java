package io.lifeline.jobs.core;

import java.io.PrintWriter;
import java.util.List;
import java.util.function.IntPredicate;

/** Prints text in aligned columns. */
public final class TextTable {
  private TextTable() {}

  /**
   * Prints names to the left and numbers to the right.
   *
   * @param rows rows; the first one holds the titles
   * @param names number of name columns; numbers follow
   */
  public static void print(List<List<String>> rows, int names, PrintWriter out) {
    print(rows, column -> column >= names, false, out);
  }

  /**
   * Prints a table with a rule below the titles.
   *
   * @param rows rows; the first one holds the titles
   * @param isRight whether a column is right-aligned
   */
  public static void printRuled(List<List<String>> rows, IntPredicate isRight, PrintWriter out) {
    print(rows, isRight, true, out);
  }

  private static void print(List<List<String>> rows, IntPredicate isRight, boolean isRuled, PrintWriter out) {
    int[] widths = new int[rows.get(0).size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], width(row.get(i)));
      }
    }
    for (int r = 0; r < rows.size(); r++) {
      StringBuilder line = new StringBuilder();
      StringBuilder rule = new StringBuilder();
      for (int i = 0; i < widths.length; i++) {
        String cell = rows.get(r).get(i);
        String padding = " ".repeat(widths[i] - width(cell));
        line.append(i > 0 ? "  " : "").append(isRight.test(i) ? padding + cell : cell + padding);
        rule.append(i > 0 ? "  " : "").append("-".repeat(widths[i]));
      }
      out.println(line.toString().stripTrailing());
      if (r == 0 && isRuled) {
        out.println(rule);
      }
    }
  }

  private static int width(String text) {
    return text.codePointCount(0, text.length());
  }
}
