package io.lifeline.jobs.archive.cli;

import java.io.PrintWriter;
import java.util.List;

/** Prints text in aligned columns. */
final class TextTable {
  private TextTable() {}

  /**
   * @param rows rows; the first one holds the titles
   * @param right for each column, whether it is right-aligned
   */
  static void print(List<String[]> rows, boolean[] right, PrintWriter out) {
    int[] widths = new int[right.length];
    for (String[] row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], width(row[i]));
      }
    }
    for (int r = 0; r < rows.size(); r++) {
      out.println(line(rows.get(r), widths, right));
      if (r == 0) {
        StringBuilder rule = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
          rule.append(i > 0 ? "  " : "").append("-".repeat(widths[i]));
        }
        out.println(rule);
      }
    }
  }

  private static String line(String[] cells, int[] widths, boolean[] right) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < cells.length; i++) {
      String padding = " ".repeat(widths[i] - width(cells[i]));
      line.append(i > 0 ? "  " : "").append(right[i] ? padding + cells[i] : cells[i] + padding);
    }
    return line.toString().stripTrailing();
  }

  private static int width(String text) {
    return text.codePointCount(0, text.length());
  }
}
