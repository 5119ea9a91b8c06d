package io.lifeline.jobs.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/** Prints aligned columns, names to the left and numbers to the right. */
public final class AlignedColumns {

  private AlignedColumns() {}

  /**
   * @param rows rows; the first one holds the titles
   * @param names number of name columns; numbers follow
   */
  public static void print(List<List<String>> rows, int names, PrintWriter out) {
    int columns = rows.get(0).size();
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < columns; i++) {
        boolean number = i >= names;
        line.append(String.format(Locale.ROOT, "%" + (number ? "" : "-") + widths[i] + "s  ", row.get(i)));
      }
      out.println(line.toString().stripTrailing());
    }
  }
}
